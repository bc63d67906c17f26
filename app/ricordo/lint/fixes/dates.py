"""Dates for relative words such as “yesterday”, counted from a date in the note's frontmatter.

Never from the time of the file: copies, checkouts and Ricordo's edits change it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from ricordo.dates import find_dates
from ricordo.lexicon import build_alternation, lower_text, read_words
from ricordo.lint.finding import Fix
from ricordo.lint.fixes.lines import Splice, build_line_edits
from ricordo.lint.prose import ProseBlock, find_day_of_passage
from ricordo.memory.change import ChangeOperation, SetField
from ricordo.memory.layout import Layout
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_WRITTEN = ("modified", "last_updated", "updated", "created", "date")
"""Fields with the date of a note, that of its last change first."""
_UNITS = ("days", "weeks", "months", "years")
_DAY_OF_YEAR = compile_lazily(
    r"(?<![\w.])(?:\d{1,2}[./]\d{1,2}\.?(?![\w.])|\d{1,2}\s?[月월]\s?\d{1,2})"
)
"""A day and a month without a year, written in digits."""
_DATE_IN_BRACKETS = compile_lazily(r"[(（]20\d\d(?:-(?:\d\d(?:-\d\d)?|W\d\d))?[)）]")
"""As this fix writes dates: a day, an ISO week, a month or a year."""
_PREFIX, _SUFFIX = re.compile(r"\(([^()]+)\)"), re.compile(r"\(([^()]+)\)$")
_NO_BRACKETS = str.maketrans("", "", "()")


class _Meaning(NamedTuple):
    """The meaning of a relative date."""

    unit: str
    ahead: int
    """How many units after the day of writing; negative before it."""
    before: str
    """A first word that is no part of the date; "" for none."""
    behind: str
    """A last word that is no part of the date; "" for none."""


def is_dated(note: Note, statement: ProseBlock) -> bool:
    """Return whether the day of a statement is known without the frontmatter: the statement has a
    date, or its title.
    """
    return (
        any(find_dates(statement.text))
        or bool(_DATE_IN_BRACKETS.search(statement.text))
        or bool(_DAY_OF_YEAR.search(lower_text(statement.text)))
        or find_day_of_passage(note, statement.line) is not None
    )


def find_relative_dates(plain: str, day: date) -> Iterator[tuple[int, int, str]]:
    """Yield the start and end of each relative date in `plain`, a lower-case text, and the day, ISO
    week, month or year that it meant on the `day`. A preposition before it is not included.
    """
    for match in _relative_dates().finditer(plain):
        meaning = _meanings().get(" ".join(match[0].split()))
        if meaning:
            start, end = match.start() + len(meaning.before), match.end() - len(meaning.behind)
            start += len(plain[start:end]) - len(plain[start:end].lstrip())
            end -= len(plain[start:end]) - len(plain[start:end].rstrip())
            yield start, end, _date_of(day, meaning)


def fix_relative_date(
    note: Note, layout: Layout, statement: ProseBlock, places: Sequence[tuple[int, int]]
) -> Fix | None:
    """Return the fix that adds its date after every relative date of a `statement`, at `places` of
    its text. None where a date is unknown. Never safe: the words may be older than the last change
    of the note, or not mean a date at all.
    """
    day = _written_on(note)
    words = [" ".join(statement.text[start:end].lower().split()) for start, end in places]
    if day is None or not all(word in _meanings() for word in words):
        return None
    dates = [_date_of(day, _meanings()[word]) for word in words]
    splices = [Splice(end, end, f" ({text})") for (_, end), text in zip(places, dates, strict=True)]
    acts = _build_acts(note, layout, statement, splices)
    label = f"add {' and '.join(dates)} after “{words[0]}”"
    return Fix(label, acts) if acts else None


def _build_acts(
    note: Note, layout: Layout, statement: ProseBlock, splices: Sequence[Splice]
) -> tuple[ChangeOperation, ...]:
    if statement.line >= note.line_of(note.frontmatter.end):
        begin = sum(len(line) + 1 for line in note.text.split("\n")[: statement.line - 1])
        moved = (Splice(begin + start, begin + end, new) for start, end, new in splices)
        return build_line_edits(note, moved)
    key = next((key for key in layout.summary_keys if note.frontmatter.get_text(key)), "")
    if note.frontmatter.error or not key:
        return ()
    text = note.description
    for splice in reversed(splices):
        text = text[: splice.start] + splice.new + text[splice.end :]
    return (SetField(note.path, key, text),)


def _written_on(note: Note) -> date | None:
    """Return the day of writing in the frontmatter; None where it gives none."""
    given = next((written for key in _WRITTEN if (written := note.frontmatter.get_text(key))), "")
    try:
        return date.fromisoformat(given[:10])
    except ValueError:
        return None


def _date_of(day: date, meaning: _Meaning) -> str:
    """Return the day, ISO week, month or year that a relative date means on `day`."""
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
    """Return the meanings of relative dates, by their lower-case words."""
    meanings: dict[str, _Meaning] = {}
    for unit in _UNITS:
        for texts in read_words("dates")["ahead"][unit].values():
            for text in texts:
                word, _, count = text.rpartition(" ")
                before, behind = _PREFIX.match(word), _SUFFIX.search(word)
                meanings[word.translate(_NO_BRACKETS)] = _Meaning(
                    unit, int(count), before[1] if before else "", behind[1] if behind else ""
                )
    return meanings


@cache
def _relative_dates() -> re.Pattern[str]:
    others = [word for words in read_words("dates")["no_date"].values() for word in words]
    words = (re.escape(word).replace(r"\ ", " ") for word in (*_meanings(), *others))
    return re.compile(build_alternation(words))
