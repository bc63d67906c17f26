"""Rules on future dates that have passed and on relative dates such as “today”."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import NamedTuple

from ricordo.dates import Dated, find_dates, names_year
from ricordo.lexicon import Triggers, any_of, compiled, expressions, lowered
from ricordo.lint.finding import Severity
from ricordo.lint.fixes.dates import date_words, is_told
from ricordo.lint.prose import ProseBlock, statements, telling
from ricordo.lint.rule import RuleContext, RuleResult, note_rule
from ricordo.lint.rules.files import NOTES
from ricordo.memory.note import Note

_NEAR = 48
"""Characters before a date in which its preposition is looked for."""
_CLAUSE_END = re.compile(r"[.!?;](?=\s|$)|[。！？；]|\s[—–]\s|\s\|\s|[()（）\[\]]")
_GAP = (
    r"[\s:：,=]{0,6}"
    r"(?:(?:on|at|in|the|end of|le|el|il|den|dem|am|fin|ende|em|en|nel|about|around)\s+){0,2}\Z"
)
"""The text allowed between a preposition and its date."""
_TITLE = re.compile(r"(?:^|[.!?:;|(—–-]\s*|\n\s*)(?:[-*+#>]+\s*|\d+[.)]\s*)?\Z")


class _DatePatterns(NamedTuple):
    """The patterns that show whether a text expects a date or looks back on it."""

    before: re.Pattern[str]
    after: re.Pattern[str]
    coming: re.Pattern[str]
    on: re.Pattern[str]
    past: re.Pattern[str]


@note_rule(
    "passed-date",
    Severity.WARNING,
    "a date in the past that the note treats as future",
    roles=NOTES,
)
def passed_date(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find deadlines and plans whose day is over, each day once."""
    if not (names_year(note.text, note.head.end) or names_year(note.description)):
        return
    reported: set[date] = set()
    for statement in statements(note):
        for dated in find_dates(statement.text):
            is_over = dated.day < context.now.date() and dated.day not in reported
            if is_over and _is_future_tense(statement, dated):
                reported.add(dated.day)
                yield _report_passed(statement, dated)


@note_rule(
    "relative-date",
    Severity.WARNING,
    "a relative date such as “yesterday” or “next week”, which loses its meaning",
    roles=NOTES,
)
def relative_date(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find words that only the day of writing gives a meaning, at most one finding a statement."""
    for statement in telling(note, _relative_triggers()):
        places = list(_find_undated(statement.spoken))
        if places:
            start, end = places[0]
            message = f"Relative date “{statement.text[start:end]}”: write the date."
            quoted = statement.quoted(start)
            fix = date_words(note, context.layout, statement, places)
            yield RuleResult(statement.line_at(start), message, quoted, (quoted,), fix=fix)


def _find_undated(spoken: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the relative dates in a statement that give no date beside them."""
    for match in _relative().finditer(lowered(spoken)):
        start, end = match.span()
        clause = lowered(_clause(spoken, start, end))
        is_dated = is_told(spoken, end) or _is_title(spoken, start)
        if not is_dated and not _timeless().search(clause):
            yield start, end


def _report_passed(statement: ProseBlock, dated: Dated) -> RuleResult:
    written = statement.text[dated.start : dated.end]
    quoted = statement.quoted(dated.start)
    message = f"{written} has passed, but the note treats it as future."
    return RuleResult(statement.line_at(dated.start), message, quoted, (quoted,))


def _is_future_tense(statement: ProseBlock, dated: Dated) -> bool:
    spoken = lowered(statement.spoken)
    if spoken[dated.start : dated.end].isspace():
        return False
    patterns = _date_patterns()
    clause = _clause(spoken, dated.start, dated.end)
    if patterns.past.search(clause):
        return False
    near = spoken[max(0, dated.start - _NEAR) : dated.start]
    if patterns.before.search(near) or patterns.after.match(spoken, dated.end):
        return True
    return bool(patterns.on.search(near)) and bool(patterns.coming.search(clause))


def _clause(text: str, start: int, end: int) -> str:
    """Return the sentence or the bracket that contains `start` to `end`."""
    begin = 0
    for mark in _CLAUSE_END.finditer(text, 0, start):
        begin = mark.end()
    closing = _CLAUSE_END.search(text, end)
    return text[begin : closing.start() if closing else len(text)]


def _is_title(text: str, at: int) -> bool:
    """Return whether the word is capitalised inside a sentence, as in the name of an article."""
    return text[at].isupper() and not _TITLE.search(text[max(0, at - 12) : at])


@cache
def _date_patterns() -> _DatePatterns:
    before = any_of(expressions("dates", "before"))
    on = any_of(expressions("dates", "on"))
    after = any_of(expressions("dates", "after")).replace(r"\b", "")
    return _DatePatterns(
        re.compile(rf"(?:{before}){_GAP}"),
        re.compile(rf"[\s:,)）]{{0,3}}(?:{after})"),
        compiled("dates", "coming"),
        re.compile(rf"(?:{on}){_GAP}"),
        compiled("dates", "past"),
    )


@cache
def _relative() -> re.Pattern[str]:
    return compiled("dates", "relative")


@cache
def _timeless() -> re.Pattern[str]:
    return compiled("dates", "timeless")


@cache
def _relative_triggers() -> Triggers:
    return Triggers(expressions("dates", "relative_words"))
