"""Find dates in a text, in all common notations."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import NamedTuple

from ricordo.lexicon import read_words
from ricordo.patterns import compile_lazily

_YEAR = compile_lazily(r"20\d\d")
_WIDEST = 24
"""Characters of a date on either side of its year; only this range is searched."""


class FoundDate(NamedTuple):
    """A date and its offsets in the text."""

    day: date
    """The day, or the last day of a month or quarter."""
    start: int
    end: int


_NUMBER_OF_DAY = compile_lazily(r"\b(20\d\d-\d\d-\d\d)-\d{1,3}(?=[-_ ]|$)")
"""A day with the number of one of its notes."""
_JOINT = compile_lazily(r"_|(?<=[^\W\d])-(?=20\d\d)|(?<=20\d\d-\d\d-\d\d)-(?=\D)")
"""What joins a day to the words of a name."""
_COMPACT_DAY = compile_lazily(r"(?<!\d)(20\d\d)([01]\d)([0-3]\d)(?!\d)")
_SHORT_DAY = compile_lazily(r"(2\d)([01]\d)([0-3]\d)(?=[ -]|\Z)")
"""The day without its century, with which a name may begin."""


def find_day_in_title(title: str) -> date | None:
    """Return the day, or the last day of the month, that a heading or the name of a file or note
    contains, such as `session_2026-05-13`, `2026-05-13-tests`, `2026-05-13-2-tests`, `Log 20260513`
    or `260513_tests`; None where there is none.
    """
    # most have no year
    if "20" not in title and title[:1] != "2":
        return None
    plain = _JOINT.sub(" ", _NUMBER_OF_DAY.sub(r"\1 ", title))
    if short := _SHORT_DAY.match(plain):
        return _date(2000 + int(short[1]), int(short[2]), int(short[3]))
    if not has_year(plain):
        return None
    if found := next(find_dates(plain), None):
        return found.day
    days = (_date(int(it[1]), int(it[2]), int(it[3])) for it in _COMPACT_DAY.finditer(plain))
    return next((day for day in days if day), None)


def has_year(text: str, start: int = 0) -> bool:
    """Return whether `text` contains a year of this century, from `start` on."""
    return "20" in text and bool(_YEAR.search(text, start))


def find_dates(text: str) -> Iterator[FoundDate]:
    """Yield the dates in `text` with a year of this century."""
    done = 0
    for year in _YEAR.finditer(text):
        if year.start() < done:
            continue
        first = max(done, year.start() - _WIDEST)
        match = _pattern().search(text, first, year.end() + _WIDEST)
        if match is None:
            continue
        done = match.end()
        day = _parse({key: value for key, value in match.groupdict().items() if value})
        if day is not None:
            yield FoundDate(day, match.start(), match.end())


@cache
def month_numbers() -> dict[str, int]:
    """Return the numbers of the months, 1 to 12, by their names in all supported languages."""
    return {
        name: number
        for names in read_words("dates")["months"].values()
        for number, spellings in enumerate(names, 1)
        for name in spellings.split("|")
    }


@cache
def _pattern() -> re.Pattern[str]:
    month = "|".join(sorted(month_numbers(), key=len, reverse=True))
    return re.compile(
        rf"""
        (?<![\w./-])(?P<y1>20\d\d)-(?P<q>q[1-4])(?!\w)
      | (?<![\w./-])(?P<y2>20\d\d)(?P<sep>[-/.])(?P<m2>\d\d?)
        (?:(?P=sep)(?P<d2>\d\d?))?(?![\w/-]|\.\w)
      | (?<![\w./-])(?P<d3>\d\d?)\.[ ]?(?P<m3>\d\d?)\.[ ]?(?P<y3>20\d\d)(?![\w-])
      | (?<![\w./-])(?P<a>\d\d?)/(?P<b>\d\d?)/(?P<y4>20\d\d)(?![\w/-])
      | (?<![\w.-])(?:(?P<d5>\d\d?)(?:st|nd|rd|th|er|\.|º)?\s+(?:de\s+|of\s+)?)?
        (?P<month5>{month})\b\.?,?\s+(?:de\s+)?(?P<y5>20\d\d)(?![\w-])
      | (?<![\w-])(?P<month6>{month})\b\.?\s+(?P<d6>\d\d?)(?:st|nd|rd|th)?,?
        \s+(?P<y6>20\d\d)(?![\w-])
      | (?<!\w)(?P<q7>q[1-4])[ ]?(?P<y7>20\d\d)(?![\w-])
      | (?<!\d)(?P<y8>20\d\d)[ ]?[年년][ ]?(?P<m8>\d\d?)[ ]?[月월](?:[ ]?(?P<d8>\d\d?)[ ]?[日号일])?
        """,
        re.VERBOSE | re.IGNORECASE,
    )


def _parse(parts: dict[str, str]) -> date | None:
    """Return the date of the named groups of a match; None if it does not exist."""
    fields: dict[str, str] = {}
    for key, value in parts.items():
        fields[key.rstrip("12345678")] = value
    year = int(fields["y"])
    if "a" in fields:
        return _later_reading(year, int(fields["a"]), int(fields["b"]))
    if "q" in fields:
        return _date(year, 3 * int(fields["q"][1]), None)
    month = month_numbers()[fields["month"].lower()] if "month" in fields else int(fields["m"])
    return _date(year, month, int(fields["d"]) if "d" in fields else None)


def _later_reading(year: int, first: int, second: int) -> date | None:
    """Return the later reading of a date like `3/4/2026`: day/month or month/day."""
    readings = (_date(year, first, second), _date(year, second, first))
    return max((day for day in readings if day), default=None)


def _date(year: int, month: int, day: int | None) -> date | None:
    """Return a date, with None for `day` the last of the month; None if it does not exist."""
    if not 1 <= month <= 12:
        return None
    last = monthrange(year, month)[1]
    if day is None:
        return date(year, month, last)
    return date(year, month, day) if 1 <= day <= last else None
