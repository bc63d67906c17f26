"""Rules on age: status reports, notes that nobody reads, and notes that nobody confirms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache

from ricordo.lexicon import Triggers, compile_part, list_expressions, lower_text
from ricordo.lint.evidence import Evidence
from ricordo.lint.finding import Severity
from ricordo.lint.prose import ProseBlock, find_statements
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule, note_rule
from ricordo.lint.rules.files import NOTES
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

_NO_CLAIM = re.compile(r"\s*(?:#|[-*+]\s+\[[ xX]\]\s)")
"""Headings, and tasks with a checkbox, which are to be ticked off."""


@note_rule(
    "status-claim",
    Severity.INFO,
    "a status that may be outdated: “done”, “pending”, “tests pass”",
    roles=NOTES,
)
def status_claim(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find reports on the state of the work, at most one per statement."""
    written = _format_written(note, context)
    for statement in find_statements(note, _triggers()):
        if match := _match_status(statement):
            quoted = statement.line_text_at(match.start())
            status = " ".join(match.group().strip(" —–-:|()").split())
            message = f"Status may be outdated: “{status}”{written}."
            yield RuleResult(statement.line_at(match.start()), message, quoted, (quoted,))


def _format_written(note: Note, context: RuleContext) -> str:
    """Return ` (written 12 Oct)` from the date in the frontmatter, with the year where it is not
    the current one; "" without a date.
    """
    try:
        day = datetime.fromisoformat(note.stated_date)
    except ValueError:
        return ""
    year = "" if day.year == context.now.year else f" {day.year}"
    return f" (written {day:%-d %b}{year})"


def _match_status(statement: ProseBlock) -> re.Match[str] | None:
    if _NO_CLAIM.match(statement.text):
        return None
    spoken = lower_text(statement.prose)
    match = _snapshot().search(spoken)
    return match if match and not _rule().search(spoken) else None


@cache
def _snapshot() -> re.Pattern[str]:
    return compile_part("claims", "snapshot")


@cache
def _rule() -> re.Pattern[str]:
    return compile_part("claims", "rule")


@cache
def _triggers() -> Triggers:
    return Triggers(list_expressions("claims", "words"))


def _depends_on(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    evidence = context.evidence
    return memory.files, evidence.reads.keys(), evidence.last_session, evidence.commits


@memory_rule(
    "never-read",
    Severity.INFO,
    "no agent has read the note in the known transcripts",
    depends_on=_depends_on,
)
def never_read(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes that existed when the newest known session began and that no session has read.

    Loading the index entry of a note does not count as reading the note.
    """
    evidence = context.evidence
    if not evidence.last_session:
        return
    last = datetime.fromisoformat(evidence.last_session)
    for note in memory.notes:
        if (
            note.role is FileRole.NOTE
            and note.path not in evidence.reads
            and _written(note, evidence) < last
        ):
            message = f"Not read in any known session (the newest: {last:%-d %b %Y})."
            yield RuleResult(0, message, note.path, path=note.path)


def _written(note: Note, evidence: Evidence) -> datetime:
    """Return when the note was last written: by its frontmatter, else by git, else by its file."""
    try:
        at = datetime.fromisoformat(note.stated_date)
    except ValueError:
        file_time = datetime.fromtimestamp(max(note.facts.modified, 0), UTC)
        at = evidence.committed_at(note) or file_time
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    # a day without a time lasts until its end
    return at + timedelta(days=1) if len(note.stated_date) == len("2026-11-19") else at


def _stale_depends_on(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    return memory.files, context.retention


@memory_rule(
    "stale",
    Severity.WARNING,
    "not confirmed for so long that its retention is below the threshold of its type",
    depends_on=_stale_depends_on,
)
def stale(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes below their retention threshold, and those that the user marked as wrong."""
    for path, retention in context.retention.items():
        note = memory.by_path.get(path)
        if note is None or not retention.is_stale:
            continue
        if retention.events.is_wrong:
            message = "You marked this note as wrong."
            yield RuleResult(0, message, f"wrong {note.text}", retention.reasons, path)
            continue
        days = (retention.today - retention.since).days
        message = f"Not confirmed for {days:,} day{'' if days == 1 else 's'}."
        yield RuleResult(0, message, note.text, path=path)
