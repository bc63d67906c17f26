"""Rules on dates that have passed and on words that mean nothing later."""

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
"""What may stand between a preposition and its date."""
_TITLE = re.compile(r"(?:^|[.!?:;|(—–-]\s*|\n\s*)(?:[-*+#>]+\s*|\d+[.)]\s*)?\Z")


class _Speech(NamedTuple):
    """The patterns by which a text speaks of dates."""

    before: re.Pattern[str]
    after: re.Pattern[str]
    coming: re.Pattern[str]
    on: re.Pattern[str]
    past: re.Pattern[str]


@note_rule(
    "passed-date",
    Severity.WARNING,
    "a date that the note speaks of as future has passed",
    roles=NOTES,
)
def passed_date(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Limits and plans whose day is over, each day once."""
    if not (names_year(note.text, note.head.end) or names_year(note.description)):
        return
    told: set[date] = set()
    for statement in statements(note):
        for dated in find_dates(statement.text):
            is_over = dated.day < context.now.date() and dated.day not in told
            if is_over and _is_told_as_future(statement, dated):
                told.add(dated.day)
                yield _found(statement, dated)


@note_rule(
    "relative-date",
    Severity.WARNING,
    "“yesterday”, “next week”: meaningless later",
    roles=NOTES,
)
def relative_date(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Words of time that only the day of writing gives a meaning, once a statement."""
    for statement in telling(note, _relative_triggers()):
        places = list(_meaningless(statement.spoken))
        if places:
            start, end = places[0]
            message = f"“{statement.text[start:end]}” means nothing once the day is forgotten."
            quoted = statement.quoted(start)
            fix = date_words(note, context.layout, statement, places)
            yield RuleResult(statement.line_at(start), message, quoted, (quoted,), fix=fix)


def _meaningless(spoken: str) -> Iterator[tuple[int, int]]:
    """Where words of time stand in a statement that have no date of their own."""
    for match in _relative().finditer(lowered(spoken)):
        start, end = match.span()
        clause = lowered(_clause(spoken, start, end))
        is_dated = is_told(spoken, end) or _is_title(spoken, start)
        if not is_dated and not _timeless().search(clause):
            yield start, end


def _found(statement: ProseBlock, dated: Dated) -> RuleResult:
    written = statement.text[dated.start : dated.end]
    quoted = statement.quoted(dated.start)
    message = f"{written} has passed; the note speaks of it as still to come."
    return RuleResult(statement.line_at(dated.start), message, quoted, (quoted,))


def _is_told_as_future(statement: ProseBlock, dated: Dated) -> bool:
    spoken = lowered(statement.spoken)
    if spoken[dated.start : dated.end].isspace():
        return False
    speech = _speech()
    clause = _clause(spoken, dated.start, dated.end)
    if speech.past.search(clause):
        return False
    near = spoken[max(0, dated.start - _NEAR) : dated.start]
    if speech.before.search(near) or speech.after.match(spoken, dated.end):
        return True
    return bool(speech.on.search(near)) and bool(speech.coming.search(clause))


def _clause(text: str, start: int, end: int) -> str:
    """The sentence, or the bracket, in which `start` to `end` stand."""
    begin = 0
    for mark in _CLAUSE_END.finditer(text, 0, start):
        begin = mark.end()
    closing = _CLAUSE_END.search(text, end)
    return text[begin : closing.start() if closing else len(text)]


def _is_title(text: str, at: int) -> bool:
    """Whether the word has a capital inside a sentence, as in the name of an article."""
    return text[at].isupper() and not _TITLE.search(text[max(0, at - 12) : at])


@cache
def _speech() -> _Speech:
    before = any_of(expressions("dates", "before"))
    on = any_of(expressions("dates", "on"))
    after = any_of(expressions("dates", "after")).replace(r"\b", "")
    return _Speech(
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
