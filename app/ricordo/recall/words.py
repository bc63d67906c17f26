"""The words of a text as the index keeps them: folded, and scripts without blanks in pairs.

Standard library alone and little of it: the hook imports this at every message.
"""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_ASCII = bytes(c if chr(c).isalnum() and c < 128 else 32 for c in range(256))
"""Leaves letters and digits and makes blanks of the rest: a quarter of the time of a search."""
_MARKS = (
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670]"
)
"""Diacritics, and the vowels of Hebrew and Arabic, which are seldom written."""
_LETTERS = str.maketrans("łøđħıð", "lodhid") | str.maketrans({"æ": "ae", "œ": "oe", "þ": "th"})
"""Letters with a stroke and the like, which Unicode does not take apart, as they are written by who
has no key for them.
"""
_SIGNS = (
    "[\u0900-\u0963\u0970-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ece"
    "\u0f71-\u0f84\u0f8d-\u0fbc\u102b-\u103e\u1056-\u1059\u17b4-\u17d3]"
)
"""Vowels and other signs within the words of South and South-East Asia, which are no letters."""
_WORD = rf"[^\W_]++(?:{_SIGNS}+[^\W_]*)*"
_UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Thai, Lao, Burmese, Khmer, Chinese, Japanese, Korean."""
_MOST_COMPOSED = 8
"""Characters that are looked at together for whether they become one; no script has so many."""

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

    return normalize("NFC", _pattern(_MARKS).sub("", normalize("NFKD", text.translate(_LETTERS))))


def fold_with_places(text: str) -> tuple[str, Sequence[int]]:
    """Return `text` as `fold` does, and where each character of that stands in `text`, its end
    among them: `ß` becomes two, a diacritic none.
    """
    folded = fold(text)
    alone = {character: fold(character) for character in set(text)}
    if len(folded) == len(text) and all(len(piece) == 1 for piece in alone.values()):
        return folded, range(len(text) + 1)
    pieces = [alone[character] for character in text]
    if "".join(pieces) != folded:
        pieces = _composed(text, alone)
    places = [at for at, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), [*places, len(text)]


def _composed(text: str, alone: Mapping[str, str]) -> list[str]:
    """What each character of `text` folds to; "" where it becomes one with those before it, as
    kana do with their marks and the letters of Hangul. `alone` has what each folds to by itself.
    """
    pieces: list[str] = []
    known: dict[str, str] = {}
    start = 0
    for at, character in enumerate(text):
        pieces.append(alone[character])
        if character.isascii() or at - start >= _MOST_COMPOSED:
            start = at
        if at == start or not pieces[at]:
            continue
        both = text[start : at + 1]
        folded = known.get(both) or known.setdefault(both, fold(both))
        if folded == pieces[start] + pieces[at]:
            start = at
        else:
            pieces[start], pieces[at] = folded, ""
    return pieces


def end_of(places: Sequence[int], end: int) -> int:
    """Return where in a text ends what ends at `end` in the folded one: behind a letter that became
    several, and behind the diacritics that were folded away.
    """
    return max(places[end - 1] + 1, places[end])


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
