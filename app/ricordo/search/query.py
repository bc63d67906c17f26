"""What a person typed to find notes: words, exact phrases, and conditions."""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from ricordo.search.words import runs

LONGEST = 2000
"""Characters of a query; what lies beyond is not looked at."""

_KEYS = "type|is|has|after|before|in"
# who writes two dashes means an option, which is a word like any other
_PIECE = re.compile(
    rf'(?P<no>-(?!-))?(?:(?:(?P<key>{_KEYS}):|(?P<link>[<>]))?"(?P<exact>[^"]+)"'
    r'|(?P<word>[^\s"]+))',
    re.IGNORECASE,
)
_DAY = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?))?)?", re.ASCII)
_CONDITION = re.compile(rf"(?P<key>{_KEYS}):(?P<value>.*)", re.IGNORECASE)
_OF_DAYS = ("after", "before")
_BEGINNINGS = ' -<>"'
"""With these a condition begins."""


class Condition(NamedTuple):
    """One thing that has to hold of a note."""

    key: str
    """`type`, `is`, `has`, `after`, `before`, `in`, `>` (links to), `<` (linked from), `exact`,
    or `word`.
    """
    value: str
    negated: bool = False


class Query(NamedTuple):
    """A query, taken apart."""

    words: str
    """What is looked for, without the conditions."""
    conditions: tuple[Condition, ...]
    unfinished: tuple[str, ...] = ()
    """Keys of conditions that have no value yet."""


def parse(text: str) -> Query:
    """Return what `text` asks for. Anything can be parsed; what is no condition is a word, and
    signs without a letter among them are an exact phrase.
    """
    words: list[str] = []
    conditions: list[Condition] = []
    unfinished: list[str] = []
    begun: Condition | None = None
    for piece in _PIECE.finditer(text[:LONGEST]):
        found = _condition(piece)
        if begun and (value := _value(begun, piece)):
            unfinished.pop()
            found = begun._replace(value=value)
        begun = None
        if found is None:
            words.append(piece["word"])
        elif found.value:
            conditions.append(found)
        else:
            begun = found
            unfinished.append(found.key)
    said = " ".join(words)
    if said.strip(_BEGINNINGS) and not runs(said):
        return Query("", (*conditions, Condition("exact", said)), tuple(unfinished))
    return Query(said, tuple(conditions), tuple(unfinished))


def _value(begun: Condition, piece: re.Match[str]) -> str:
    """What follows a condition behind a blank, where that is surely its value."""
    if piece["no"] or piece["key"] or piece["link"]:
        return ""
    is_day = begun.key in _OF_DAYS and looks_like_day(piece["word"] or "")
    return piece["exact"] or (piece["word"] if is_day else "")


def _condition(piece: re.Match[str]) -> Condition | None:
    """The condition that a piece is; one without a value is still to be finished."""
    negated, exact, word = bool(piece["no"]), piece["exact"], piece["word"] or ""
    if exact:
        held = (piece["key"] or piece["link"] or "exact").lower()
        return Condition(held, exact, negated)
    if key := _CONDITION.fullmatch(word):
        return Condition(key["key"].lower(), key["value"], negated)
    if word[:1] in ("<", ">"):
        return Condition(word[0], word[1:], negated)
    return Condition("word", word, True) if negated else None


def looks_like_day(value: str) -> bool:
    """Say whether `value` is written as a year, month or day, be there such a one or not."""
    return _DAY.fullmatch(value.strip()) is not None


def day_meant(value: str) -> str:
    """Return the year, month or day that `value` writes, as the beginning of an ISO 8601 day; ""
    where it writes none.
    """
    found = _DAY.fullmatch(value.strip())
    if not found:
        return ""
    pieces = [it.zfill(2) for it in found.groups() if it]
    try:
        date.fromisoformat("-".join([*pieces, "01", "01"][:3]))
    except ValueError:
        return ""
    return "-".join(pieces)
