"""What a person typed to find notes: words, exact phrases, and conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

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
_CONDITION = re.compile(rf"(?P<key>{_KEYS}):(?P<value>.+)", re.IGNORECASE)


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


def parse(text: str) -> Query:
    """Return what `text` asks for. Anything can be parsed; what is no condition is a word."""
    words: list[str] = []
    conditions: list[Condition] = []
    for piece in _PIECE.finditer(text[:LONGEST]):
        negated, exact, word = bool(piece["no"]), piece["exact"], piece["word"] or ""
        key = _CONDITION.fullmatch(word)
        if exact:
            held = (piece["key"] or piece["link"] or "exact").lower()
            conditions.append(Condition(held, exact, negated))
        elif key:
            conditions.append(Condition(key["key"].lower(), key["value"], negated))
        elif word[:1] in ("<", ">") and len(word) > 1:
            conditions.append(Condition(word[0], word[1:], negated))
        elif negated:
            conditions.append(Condition("word", word, True))
        else:
            words.append(word)
    return Query(" ".join(words), tuple(conditions))


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


def describe(condition: Condition) -> str:
    """Return a condition as it is typed."""
    forms: Mapping[str, str] = {"exact": '"{}"', "word": "{}", ">": ">{}", "<": "<{}"}
    form = forms.get(condition.key, condition.key + ":{}")
    if condition.key != "exact" and " " in condition.value:
        form = form.replace("{}", '"{}"')
    return ("-" if condition.negated else "") + form.format(condition.value)
