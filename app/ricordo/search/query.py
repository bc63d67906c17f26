"""Parse a search query: words, exact phrases and conditions; alternatives with OR between them."""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from ricordo.patterns import compile_lazily
from ricordo.search.words import split_runs

LONGEST = 2000
"""Characters of a query; the rest is ignored."""
MOST_ALTERNATIVES = 12
"""Each alternative is a search; the last one takes the rest of the query."""

_KEYS = "type|tag|is|has|after|before|in"
# two dashes begin an option, which is a plain word
_PIECE = compile_lazily(
    rf'(?P<no>-(?!-))?(?:(?:(?P<key>{_KEYS}):|(?P<link>[<>]))?"(?P<exact>[^"]+)"'
    r'|(?P<word>[^\s"]+))',
    re.IGNORECASE,
)
_DAY = compile_lazily(r"(?P<year>\d{4})(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?))?)?", re.ASCII)
_CONDITION = compile_lazily(rf"(?P<key>{_KEYS}):(?P<value>.*)", re.IGNORECASE)
_OF_DAYS = ("after", "before")
_BEGINNINGS = ' -<>"'
"""Characters with which a condition begins."""


class Condition(NamedTuple):
    """One condition that a note must meet."""

    key: str
    """`type`, `tag`, `is`, `has`, `after`, `before`, `in`, `>` (links to), `<` (linked from),
    `exact`, or `word`.
    """
    value: str
    negated: bool = False


class Query(NamedTuple):
    """A parsed query."""

    words: str
    """The words to search, without the conditions."""
    conditions: tuple[Condition, ...]
    unfinished: tuple[str, ...] = ()
    """Keys of conditions that have no value yet."""


_OR = "OR"


def parse_alternatives(text: str) -> tuple[Query, ...]:
    """Parse `text` as alternatives, at least one: `OR` in capitals separates them, and binds less
    than all that is side by side.
    """
    starts = [0]
    for piece in _PIECE.finditer(text[:LONGEST]):
        if piece[0] == _OR and len(starts) < MOST_ALTERNATIVES:
            starts.append(piece.end())
    ends = [start - len(_OR) for start in starts[1:]]
    parts = [text[start:end] for start, end in zip(starts, [*ends, LONGEST], strict=True)]
    queries = [parse(part) for part in parts if part.strip()]
    # one that is still being typed says nothing yet
    complete = [query for query in queries if query.words or query.conditions]
    return tuple(complete or queries[:1] or [parse(text)])


def join_words(text: str) -> str:
    """Return the words of all alternatives of `text`, without the conditions."""
    return " ".join(query.words for query in parse_alternatives(text) if query.words)


def parse(text: str) -> Query:
    """Parse `text` as one alternative; never fails. Pieces that are not conditions are words; if
    they contain no letter or digit, they are one exact phrase.
    """
    words: list[str] = []
    conditions: list[Condition] = []
    unfinished: list[str] = []
    begun: Condition | None = None
    for piece in _PIECE.finditer(text[:LONGEST]):
        condition = _condition(piece)
        if begun and (value := _value(begun, piece)):
            unfinished.pop()
            condition = begun._replace(value=value)
        begun = None
        if condition is None:
            words.append(piece["word"])
        elif condition.value:
            conditions.append(condition)
        else:
            begun = condition
            unfinished.append(condition.key)
    joined = " ".join(words)
    if joined.strip(_BEGINNINGS) and not split_runs(joined):
        return Query("", (*conditions, Condition("exact", joined)), tuple(unfinished))
    return Query(joined, tuple(conditions), tuple(unfinished))


def _value(begun: Condition, piece: re.Match[str]) -> str:
    """Return `piece` if it is surely the value of the condition before it; else ""."""
    if piece["no"] or piece["key"] or piece["link"]:
        return ""
    is_day = begun.key in _OF_DAYS and looks_like_day(piece["word"] or "")
    return piece["exact"] or (piece["word"] if is_day else "")


def _condition(piece: re.Match[str]) -> Condition | None:
    """Return the condition in a piece, with "" as value if it is unfinished; None for a word."""
    negated, exact, word = bool(piece["no"]), piece["exact"], piece["word"] or ""
    if exact:
        key_name = (piece["key"] or piece["link"] or "exact").lower()
        return Condition(key_name, exact, negated)
    if key := _CONDITION.fullmatch(word):
        return Condition(key["key"].lower(), key["value"], negated)
    if word[:1] in ("<", ">"):
        return Condition(word[0], word[1:], negated)
    return Condition("word", word, True) if negated else None


def looks_like_day(value: str) -> bool:
    """Return whether `value` has the form of a year, month or day, valid or not."""
    return _DAY.fullmatch(value.strip()) is not None


def parse_day(value: str) -> str:
    """Return the year, month or day in `value` as the beginning of an ISO 8601 day; "" if it is
    not a valid one.
    """
    match = _DAY.fullmatch(value.strip())
    if not match:
        return ""
    pieces = [part.zfill(2) for part in match.groups() if part]
    try:
        date.fromisoformat("-".join([*pieces, "01", "01"][:3]))
    except ValueError:
        return ""
    return "-".join(pieces)
