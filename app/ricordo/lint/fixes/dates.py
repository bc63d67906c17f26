"""Giving words such as “yesterday” the date that they stand for, from a date in the note's head.

Never from the time of the file: copies, checkouts and our own edits change it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from ricordo.dates import find_dates
from ricordo.lexicon import any_of, lowered, read_words
from ricordo.lint.finding import Fix
from ricordo.lint.fixes.lines import Splice, line_edits
from ricordo.lint.prose import ProseBlock
from ricordo.memory.change import Act, SetField
from ricordo.memory.layout import Layout
from ricordo.memory.note import Note

_WRITTEN = ("modified", "last_updated", "updated", "created", "date")
"""Fields that say when a note was written, that of its last change first."""
_UNITS = ("days", "weeks", "months", "years")
_DAY_OF_YEAR = re.compile(
    r"(?<![\w.])(?:\d{1,2}[./]\d{1,2}\.?(?![\w.])|\d{1,2}\s?[月월]\s?\d{1,2})"
)
"""A day and a month without a year, written in digits."""
_TOLD = re.compile(r"\s*[(（]20\d\d(?:-(?:\d\d(?:-\d\d)?|W\d\d))?[)）]")


_KEPT_BEFORE, _KEPT_BEHIND = re.compile(r"\(([^()]+)\)"), re.compile(r"\(([^()]+)\)$")
_NO_BRACKETS = str.maketrans("", "", "()")


class _Meaning(NamedTuple):
    """What a word of time means."""

    unit: str
    ahead: int
    """How many of the unit it lies ahead of the day on which it is written."""
    before: str
    """The word with which it begins that is no part of the date; "" where there is none."""
    behind: str
    """The word with which it ends that is no part of the date; "" where there is none."""


def is_told(text: str, end: int) -> bool:
    """Say whether the word that ends at `end` of `text` has its date behind it, in brackets."""
    return bool(_TOLD.match(text, end))


def find_relative_dates(plain: str, day: date) -> Iterator[tuple[int, int, str]]:
    """Yield where words of time stand in `plain`, a text in lower case, and the day, ISO week,
    month or year that they meant on the `day`. A preposition before them is no part of the place.
    """
    for match in _words_of_time().finditer(plain):
        meaning = _meanings().get(" ".join(match[0].split()))
        if meaning:
            start, end = match.start() + len(meaning.before), match.end() - len(meaning.behind)
            start += len(plain[start:end]) - len(plain[start:end].lstrip())
            end -= len(plain[start:end]) - len(plain[start:end].rstrip())
            yield start, end, _date(day, meaning)


def date_words(
    note: Note, layout: Layout, statement: ProseBlock, places: Sequence[tuple[int, int]]
) -> Fix | None:
    """Return the fix that puts behind every word of time of a `statement`, at `places` of its
    text, the date that it stood for when the note was written; None where one cannot be told, or
    where the note says of itself when that was written, or no agent keeps it: pages say what their
    sources said. A person has to see it: the words may be older than the last change of the note,
    or speak of these days as such.
    """
    day = _written_on(note)
    words = [" ".join(statement.text[start:end].lower().split()) for start, end in places]
    if day is None or not layout.agent or not all(word in _meanings() for word in words):
        return None
    if _tells_its_day(note, statement, day):
        return None
    told = [_date(day, _meanings()[word]) for word in words]
    splices = [Splice(end, end, f" ({text})") for (_, end), text in zip(places, told, strict=True)]
    acts = _acts(note, layout, statement, splices)
    label = f"put {' and '.join(told)} behind “{words[0]}”"
    return Fix(label, acts) if acts else None


def _tells_its_day(note: Note, statement: ProseBlock, day: date) -> bool:
    """Whether a date stands in the statement, or another one than `day` in a heading above it or
    in the name of the note.
    """
    if any(find_dates(statement.text)) or _DAY_OF_YEAR.search(lowered(statement.text)):
        return True
    above = "\n".join([note.stem.replace("_", " "), note.name, *_headings(note, statement.line)])
    return any(dated.day != day for dated in find_dates(above))


def _headings(note: Note, line: int) -> Iterator[str]:
    """Yield the headings under which `line`, a 1-based number, stands, the nearest first."""
    level = 7
    for text in reversed(note.text.split("\n")[: line - 1]):
        marks = len(text) - len(text.lstrip("#"))
        if 0 < marks < level and text[marks : marks + 1].isspace():
            level = marks
            yield text


def _acts(
    note: Note, layout: Layout, statement: ProseBlock, splices: Sequence[Splice]
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


def _written_on(note: Note) -> date | None:
    """Return the day on which the head says that the note was written."""
    given = next((written for key in _WRITTEN if (written := note.head.scalar(key))), "")
    try:
        return date.fromisoformat(given[:10])
    except ValueError:
        return None


def _date(day: date, meaning: _Meaning) -> str:
    """Return the day, ISO week, month or year that a word means on `day`."""
    unit, count = meaning.unit, meaning.ahead
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
