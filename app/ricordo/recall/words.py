"""The words of a text as the index keeps them: folded, and scripts without blanks in pairs.

Standard library alone and little of it: the hook imports this at every message.
"""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

_ASCII = bytes(c if chr(c).isalnum() and c < 128 else 32 for c in range(256))
"""Leaves letters and digits and makes blanks of the rest: a quarter of the time of a search."""
_WORD = r"[^\W_]+"
_MARKS = "[\u0300-\u036f]"
_UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Thai, Lao, Burmese, Khmer, Chinese, Japanese, Korean."""

_STOP_WORDS = """
    a about above after again against all also am an and any are as at be because been before
    being below between both but by can could d did do does doing done down during each few for
    from further get gets getting give given got had has have having he her here hers herself
    him himself his how i if in into is it its itself just let ll m many may me might more most
    much must my myself no nor not now of off ok okay on once only or other our ours ourselves
    out over own please re s same shall she should so some such t than thanks that the their
    theirs them themselves then there these they this those through to too under until up us ve
    very was we were what when where which while who whom whose why will with would yes you
    your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that ask or join and name nothing. Left in, they cost six points of recall at five on
LoCoMo (measured for the design of this search).
"""


def fold(text: str) -> str:
    """Return `text` without case and diacritics, in composed form."""
    text = text.casefold()
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFC", _pattern(_MARKS).sub("", normalize("NFKD", text)))


def words(text: str) -> list[str]:
    """Return the words of `text`, folded, in their order. Of a script that sets no blanks every
    two neighbouring characters are a word.
    """
    found = runs(text)
    if text.isascii() or not _pattern(_UNSPACED).search(" ".join(found)):
        return found
    return [piece for word in found for piece in _pieces(word)]


def runs(text: str) -> list[str]:
    """Return the runs of letters and digits of `text`, folded, in their order."""
    folded = fold(text)
    if folded.isascii():
        return folded.encode("ascii").translate(_ASCII).decode("ascii").split()
    found: list[str] = _pattern(_WORD).findall(folded)
    return found


def is_unspaced(word: str) -> bool:
    """Say whether `word` is of a script that sets no blanks between words."""
    return not word.isascii() and bool(_pattern(_UNSPACED).fullmatch(word))


def content_words(found: Iterable[str]) -> list[str]:
    """Return those of the words `found` that name something."""
    return [word for word in found if word not in STOP_WORDS]


def _pieces(word: str) -> Iterator[str]:
    at = 0
    for run in _pattern(_UNSPACED).finditer(word):
        if run.start() > at:
            yield word[at : run.start()]
        yield from _pairs(run[0])
        at = run.end()
    if at < len(word):
        yield word[at:]


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compiled when it is needed: most texts are ASCII and need none."""
    import re

    return re.compile(text)
