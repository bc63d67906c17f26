"""In which language a text is written, as far as its small words tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from ricordo.health.vocabulary import read_words
from ricordo.recall.words import runs

_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "zh": re.compile("[\u3400-\u9fff]"),
}
_FEW = 2
"""Words in which no language need show: `yes`, `go on`."""


def language_of(text: str) -> str:
    """Return the language of `text` as its two letters; "" where that cannot be told."""
    by_script = next((name for name, script in _SCRIPTS.items() if script.search(text)), "")
    if by_script:
        return by_script
    said = frozenset(runs(text))
    counts = sorted(((len(said & small), name) for name, small in _small_words()), reverse=True)
    (most, name), (next_most, _) = counts[:2]
    return name if most > next_most else ""


def are_all_in(language: str, texts: Iterable[str]) -> bool:
    """Say whether all of `texts` that have more than a few words are surely in one language, and
    there is one.
    """
    found = [language_of(text) for text in texts if len(runs(text)) > _FEW]
    return bool(language) and bool(found) and all(it == language for it in found)


@cache
def _small_words() -> tuple[tuple[str, frozenset[str]], ...]:
    """The words of each language, in letters with blanks between words, that bear no meaning."""
    filler = read_words("opposition")["filler"]
    return tuple(
        (name, frozenset(word for text in texts for word in runs(text)))
        for name, texts in filler.items()
        if name not in _SCRIPTS
    )
