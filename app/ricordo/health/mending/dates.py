"""Giving words such as “yesterday” the date that they stand for, from a date in the note's head.

Never from the time of the file: copies, checkouts and our own edits change it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import NamedTuple

from ricordo.health.finding import Fix
from ricordo.health.mending.lines import Splice, line_edits
from ricordo.health.prose import Statement
from ricordo.health.vocabulary import any_of, read_words
from ricordo.memory.change import Act, SetField
from ricordo.memory.layout import Layout
from ricordo.memory.note import Note

_WRITTEN = ("modified", "last_updated", "updated", "created", "date")
"""Fields that say when a note was written, that of its last change first."""
_UNITS = ("days", "weeks", "months", "years")
_TOLD = re.compile(r"\s*[(（]20\d\d(?:-(?:\d\d(?:-\d\d)?|W\d\d))?[)）]")


_KEPT_BEFORE, _KEPT_BEHIND = re.compile(r"\(([^()]+)\)"), re.compile(r"\(([^()]+)\)$")
_NO_BRACKETS = str.maketrans("", "", "()")


class _Meaning(NamedTuple):
    """What a word of time means."""

    unit: str
    count: int
    """How many of the unit it lies ahead of the day on which it is written."""
    before: str
    """The word with which it begins that is no part of the date; "" where there is none."""
    behind: str
    """The word with which it ends that is no part of the date; "" where there is none."""


class _Stamp(NamedTuple):
    day: date
    is_certain: bool
    """Whether the person was surely in that day when the note was written."""


def is_told(text: str, end: int) -> bool:
    """Say whether the word that ends at `end` of `text` has its date behind it, in brackets."""
    return bool(_TOLD.match(text, end))


def find_relative_dates(plain: str, day: date) -> Iterator[tuple[int, int, str]]:
    """Yield where words of time stand in `plain`, a text in lower case, and the day, ISO week, month
    or year that they meant on the `day`. A preposition before them is no part of the place.
    """
    for match in _words_of_time().finditer(plain):
        meaning = _meanings().get(" ".join(match[0].split()))
        if meaning:
            start, end = match.start() + len(meaning.before), match.end() - len(meaning.behind)
            start += len(plain[start:end]) - len(plain[start:end].lstrip())
            end -= len(plain[start:end]) - len(plain[start:end].rstrip())
            yield start, end, _date(day, meaning)


def date_words(
    note: Note, layout: Layout, statement: Statement, places: Sequence[tuple[int, int]]
) -> Fix | None:
    """Return the fix that puts behind every word of time of a `statement`, at `places` of its
    text, the date that it stood for when the note was written; None where one cannot be told.
    Safe where the head leaves no doubt of the day of writing, and the words mean single days.
    """
    stamp = _stamp(note)
    words = [" ".join(statement.text[start:end].lower().split()) for start, end in places]
    if stamp is None or not all(word in _meanings() for word in words):
        return None
    told = [_date(stamp.day, _meanings()[word]) for word in words]
    splices = [Splice(end, end, f" ({text})") for (_, end), text in zip(places, told, strict=True)]
    acts = _acts(note, layout, statement, splices)
    is_safe = stamp.is_certain and all(_meanings()[word].unit == "days" for word in words)
    label = f"put {' and '.join(told)} behind “{words[0]}”"
    return Fix(label, acts, is_safe) if acts else None


def _acts(
    note: Note, layout: Layout, statement: Statement, splices: Sequence[Splice]
) -> tuple[Act, ...]:
    if statement.line >= note.line_of(note.head.end):
        begin = sum(len(line) + 1 for line in note.text.split("\n")[: statement.line - 1])
        return line_edits(
            note, [Splice(begin + it.start, begin + it.end, it.new) for it in splices]
        )
    key = next((key for key in layout.summary_keys if note.head.scalar(key)), "")
    if note.head.fault or not key:
        return ()
    text = note.description
    for splice in reversed(splices):
        text = text[: splice.start] + splice.new + text[splice.end :]
    return (SetField(note.path, key, text),)


def _stamp(note: Note) -> _Stamp | None:
    """Return the day on which the head says that the note was written."""
    given = [written for key in _WRITTEN if (written := note.head.scalar(key))]
    days = [_day(written) for written in given]
    if not days or days[0] is None:
        return None
    # a day that begins elsewhere in the world may be another one where the person was
    is_certain = len(set(days)) == 1 and not any(_is_world_time(written) for written in given)
    return _Stamp(days[0], is_certain)


def _day(written: str) -> date | None:
    try:
        return date.fromisoformat(written[:10])
    except ValueError:
        return None


def _is_world_time(written: str) -> bool:
    try:
        return datetime.fromisoformat(written).tzinfo == UTC
    except ValueError:
        return True


def _date(day: date, meaning: _Meaning) -> str:
    """Return the day, ISO week, month or year that a word means on `day`."""
    unit, count = meaning.unit, meaning.count
    if unit == "days":
        return (day + timedelta(days=count)).isoformat()
    if unit == "weeks":
        year, week, _ = (day + timedelta(weeks=count)).isocalendar()
        return f"{year}-W{week:02}"
    if unit == "months":
        year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
        return f"{year}-{month + 1:02}"
    return str(day.year + count)


@cache
def _meanings() -> Mapping[str, _Meaning]:
    """Return what words of time mean, by the words in lower case."""
    meanings: dict[str, _Meaning] = {}
    for unit in _UNITS:
        for texts in read_words("dates")["ahead"][unit].values():
            for text in texts:
                word, _, count = text.rpartition(" ")
                before, behind = _KEPT_BEFORE.match(word), _KEPT_BEHIND.search(word)
                meanings[word.translate(_NO_BRACKETS)] = _Meaning(
                    unit, int(count), before[1] if before else "", behind[1] if behind else ""
                )
    return meanings


@cache
def _words_of_time() -> re.Pattern[str]:
    others = [word for words in read_words("dates")["no_date"].values() for word in words]
    words = (re.escape(word).replace(r"\ ", " ") for word in (*_meanings(), *others))
    return re.compile(any_of(words))
