"""Rules on future dates that have passed and on relative dates such as “today”."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import NamedTuple

from ricordo.dates import FoundDate, find_dates, has_year
from ricordo.lexicon import Triggers, build_alternation, compile_part, list_expressions, lower_text
from ricordo.lint.finding import Severity
from ricordo.lint.fixes.dates import fix_relative_date, is_date_given
from ricordo.lint.prose import ProseBlock, extract_statements, find_statements
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
    if not (has_year(note.text, note.frontmatter.end) or has_year(note.description)):
        return
    reported: set[date] = set()
    for statement in extract_statements(note):
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
    for statement in find_statements(note, _relative_triggers()):
        places = list(_find_undated(statement.prose))
        if places:
            start, end = places[0]
            message = f"Relative date “{statement.text[start:end]}”: write the date."
            quoted = statement.line_text_at(start)
            fix = fix_relative_date(note, context.layout, statement, places)
            yield RuleResult(statement.line_at(start), message, quoted, (quoted,), fix=fix)


def _find_undated(spoken: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the relative dates in a statement that give no date beside them."""
    for match in _relative().finditer(lower_text(spoken)):
        start, end = match.span()
        clause = lower_text(_clause(spoken, start, end))
        is_dated = is_date_given(spoken, end) or _is_title(spoken, start)
        if not is_dated and not _timeless().search(clause):
            yield start, end


def _report_passed(statement: ProseBlock, dated: FoundDate) -> RuleResult:
    written = statement.text[dated.start : dated.end]
    quoted = statement.line_text_at(dated.start)
    message = f"{written} has passed, but the note treats it as future."
    return RuleResult(statement.line_at(dated.start), message, quoted, (quoted,))


def _is_future_tense(statement: ProseBlock, dated: FoundDate) -> bool:
    spoken = lower_text(statement.prose)
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
    before = build_alternation(list_expressions("dates", "before"))
    on = build_alternation(list_expressions("dates", "on"))
    after = build_alternation(list_expressions("dates", "after")).replace(r"\b", "")
    return _DatePatterns(
        re.compile(rf"(?:{before}){_GAP}"),
        re.compile(rf"[\s:,)）]{{0,3}}(?:{after})"),
        compile_part("dates", "coming"),
        re.compile(rf"(?:{on}){_GAP}"),
        compile_part("dates", "past"),
    )


@cache
def _relative() -> re.Pattern[str]:
    return compile_part("dates", "relative")


@cache
def _timeless() -> re.Pattern[str]:
    return compile_part("dates", "timeless")


@cache
def _relative_triggers() -> Triggers:
    return Triggers(list_expressions("dates", "relative_words"))
