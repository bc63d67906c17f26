"""Find dates in a statement, relative ones too, and make them absolute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from ricordo.dates import find_dates, month_numbers
from ricordo.lexicon import lower_text, statement_table
from ricordo.lint.fixes.dates import find_relative_dates

_EARLIEST, _LATEST = date(1900, 1, 1), date(9000, 1, 1)
_MONTHS_BACK = 6
"""A month and day without a year that is longer ago refers to the next year."""


class StatementDay(NamedTuple):
    """A date in a text."""

    start: int
    end: int
    text: str
    """The absolute date: a day, an ISO week, a month or a year."""
    day: date | None
    """None unless it is a single day."""


def find_days(text: str, today: date) -> tuple[StatementDay, ...]:
    """Return the dates in `text`, written on the day `today`, in order."""
    plain, today = lower_text(text), clamp_day(today)
    days = [
        *(
            StatementDay(found.start, found.end, found.day.isoformat(), found.day)
            for found in find_dates(plain)
        ),
        *_without_year(plain, today),
        *_weekdays(plain, today),
        *_in_words(plain, today),
    ]
    result: list[StatementDay] = []
    for day in sorted(days, key=lambda day: (day.start, -day.end)):
        if not result or day.start >= result[-1].end:
            result.append(day)
    return tuple(result)


def clamp_day(day: date) -> date:
    """Return `day` of a transcript, limited to a range in which date arithmetic works."""
    return min(max(day, _EARLIEST), _LATEST)


def make_dates_absolute(text: str, today: date) -> str:
    """Return `text` with all dates replaced by absolute ones, in ISO 8601."""
    for day in reversed(find_days(text, today)):
        text = text[: day.start] + day.text + text[day.end :]
    return text


def _without_year(plain: str, today: date) -> Iterator[StatementDay]:
    for match in _month_day().finditer(plain):
        month = month_numbers().get(match["m1"] or match["m2"] or "")
        number = int(match["d1"] or match["d2"] or match["d3"])
        month = month or int(match["m3"])
        day = _next(number, month, today)
        if day is not None:
            yield StatementDay(match.start(), match.end(), day.isoformat(), day)


def _next(number: int, month: int, today: date) -> date | None:
    """Return the date of a day and month: in this year, or in the next one if that is long past;
    None if it does not exist.
    """
    for year in (today.year, today.year + 1):
        try:
            day = date(year, month, number)
        except ValueError:
            continue
        if day >= today - timedelta(days=30 * _MONTHS_BACK):
            return day
    return None


def _weekdays(plain: str, today: date) -> Iterator[StatementDay]:
    """Yield weekdays: “by Friday” is the next one, “next Friday” that of the next week."""
    for match in _weekday().finditer(plain):
        number = _weekday_numbers()[match["day"] or match["coming"]]
        if match["next"]:
            start, day = match.start("next"), _monday(today) + timedelta(days=7 + number)
        else:
            ahead = (number - today.weekday() - 1) % 7 + 1
            start, day = match.start("coming"), today + timedelta(days=ahead)
        yield StatementDay(start, match.end(), day.isoformat(), day)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _in_words(plain: str, today: date) -> Iterator[StatementDay]:
    for start, end, written in find_relative_dates(plain, today):
        day = date.fromisoformat(written) if len(written) == 10 else None
        yield StatementDay(start, end, written, day)


@cache
def _weekday_numbers() -> dict[str, int]:
    return {
        name: number
        for names in statement_table("weekdays").values()
        for number, spellings in enumerate(names)
        for name in spellings.split("|")
    }


@cache
def _month_day() -> re.Pattern[str]:
    month = "|".join(sorted(map(re.escape, month_numbers()), key=len, reverse=True))
    return re.compile(
        rf"(?<![\w.-])(?P<d1>\d\d?)(?:st|nd|rd|th|er|\.|º)?\s+(?:de\s+|of\s+)?(?P<m1>{month})\b"
        r"(?!\s+(?:de\s+)?20\d\d)"
        rf"|(?<![\w-])(?P<m2>{month})\s+(?:the\s+)?(?P<d2>\d\d?)(?:st|nd|rd|th)?\b"
        r"(?!,?\s+20\d\d|[.:]\d|\s*%)"
        r"|(?<![\d年년])(?P<m3>1[0-2]|[1-9])\s?[月월]\s?(?P<d3>[12]\d|3[01]|[1-9])\s?[日号號일]"
    )


@cache
def _weekday() -> re.Pattern[str]:
    day = "|".join(sorted(map(re.escape, _weekday_numbers()), key=len, reverse=True))
    before, following = (
        "|".join(text for texts in statement_table(part).values() for text in texts)
        for part in ("before_weekday", "next_weekday")
    )
    return re.compile(
        rf"(?<!\w)(?P<next>(?:{following})\s*)(?P<day>{day})(?!\w)"
        rf"|(?<!\w)(?:{before})\s+(?P<coming>{day})(?!\w)"
    )
