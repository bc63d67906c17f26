"""Word lists in many languages: data files beside the rules, compiled once."""

from __future__ import annotations

import pkgutil
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from ricordo.resources import data_text

SPACELESS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Kana, Han and Hangul, inside a character class: scripts in which words have no sure border."""
_WORD = re.compile(rf"[^\W\d_{SPACELESS}]+")
_BLANK = re.compile(r"(\(\?<[!=][^()]*\))| ")
"""A blank, or the look-behind, of fixed width, that may hold one."""
_SPACELESS = re.compile(f"[{SPACELESS}]")


@cache
def read_words(name: str) -> Mapping[str, Any]:
    """Return the data file `name` that lies beside the rules."""
    data = pkgutil.get_data("ricordo.lint.rules", f"{name}.toml")
    assert data is not None
    return tomllib.loads(data.decode())


def expressions(name: str, part: str) -> list[str]:
    """Return the expressions of all languages under `part` of the data file `name`."""
    return [text for texts in read_words(name)[part].values() for text in texts]


def lowered(text: str) -> str:
    """Return `text` in lower case, every character at its place."""
    plain = text.lower()
    if len(plain) == len(text):
        return plain
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def any_of(parts: Iterable[str]) -> str:
    """Return one alternation of whole words and phrases, for texts in lower case; a blank stands
    for any white space.
    """
    # a border that is tried once, and branches that begin with a letter, are what makes it fast
    spaced = [_BLANK.sub(lambda match: match[1] or r"\s+", part) for part in set(parts)]
    spaced.sort(key=lambda part: (-len(part), part))
    bounded = "|".join(part for part in spaced if not _SPACELESS.search(part))
    free = "|".join(part for part in spaced if _SPACELESS.search(part))
    choices = [rf"\b(?:{bounded})(?!\w)"] * bool(bounded) + [f"(?:{free})"] * bool(free)
    return "|".join(choices) or r"(?!)"


def compiled(name: str, part: str) -> re.Pattern[str]:
    """Return the pattern that finds any expression under `part` of the data file `name` in a text
    in lower case.
    """
    return re.compile(any_of(expressions(name, part)))


class Triggers:
    """Decides at little cost that a text holds none of some words."""

    def __init__(self, parts: Iterable[str]) -> None:
        """`parts` in lower case; what is no word of letters, or is written without word borders,
        is looked for anywhere.
        """
        given = frozenset(parts)
        self._words = frozenset(part for part in given if _WORD.fullmatch(part))
        self._signs = tuple(part for part in given - self._words if part.isascii())
        self._unbounded = tuple(part for part in given - self._words if not part.isascii())

    def are_in(self, words: frozenset[str], text: str) -> bool:
        """Say whether `text`, whose lower-cased `words` are known, holds any of them."""
        if not self._words.isdisjoint(words) or any(map(text.__contains__, self._signs)):
            return True
        return not text.isascii() and any(map(text.__contains__, self._unbounded))

    def among(self, words: frozenset[str], text: str) -> tuple[str, ...]:
        """Return those of them that `text`, whose lower-cased `words` are known, holds. They tell
        of each of its parts, sooner than the part's own words do, that nothing is there.
        """
        if not self.are_in(words, text):
            return ()
        return (
            *self._words.intersection(words),
            *(part for part in (*self._signs, *self._unbounded) if part in text),
        )


@cache
def pattern(part: str) -> re.Pattern[str]:
    """Return the pattern that finds any expression under `part` in a text in lower case."""
    return re.compile(any_of(text for texts in table(part).values() for text in texts))


def table(part: str) -> Mapping[str, list[str]]:
    """Return the lists under `part` of the data file, by language."""
    lists: Mapping[str, list[str]] = _data()[part]
    return lists


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(data_text("extraction/patterns.toml"))
