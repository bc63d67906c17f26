"""Rules on snapshots that are told as facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache

from ricordo.lexicon import Triggers, compiled, expressions, lowered
from ricordo.lint.evidence import Evidence
from ricordo.lint.finding import Severity
from ricordo.lint.prose import ProseBlock, telling
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule, note_rule
from ricordo.lint.rules.files import NOTES
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

_NO_CLAIM = re.compile(r"\s*(?:#|[-*+]\s+\[[ xX]\]\s)")
"""Headings, and tasks with a box: they are there to be ticked off."""


@note_rule(
    "status-claim",
    Severity.INFO,
    "“done”, “pending”, “tests pass”: a snapshot told as a fact",
    roles=NOTES,
)
def status_claim(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """How the work stood when the note was written, once a statement."""
    for statement in telling(note, _triggers()):
        if match := _claimed(statement):
            quoted = statement.quoted(match.start())
            said = " ".join(match.group().strip(" —–-:|()").split())
            message = f"“{said}” was so when it was written."
            yield RuleResult(statement.line_at(match.start()), message, quoted, (quoted,))


def _claimed(statement: ProseBlock) -> re.Match[str] | None:
    if _NO_CLAIM.match(statement.text):
        return None
    spoken = lowered(statement.spoken)
    match = _snapshot().search(spoken)
    return match if match and not _rule().search(spoken) else None


@cache
def _snapshot() -> re.Pattern[str]:
    return compiled("claims", "snapshot")


@cache
def _rule() -> re.Pattern[str]:
    return compiled("claims", "rule")


@cache
def _triggers() -> Triggers:
    return Triggers(expressions("claims", "words"))


def _rests_on(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    evidence = context.evidence
    return memory.files, evidence.reads.keys(), evidence.last_session, evidence.commits


@memory_rule(
    "never-read",
    Severity.INFO,
    "no agent has read the note in the known transcripts",
    rests_on=_rests_on,
)
def never_read(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Notes that were there when the newest known session began, and that none has read.

    That an agent is given the entry of a note is no reading of the note.
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
            message = f"No agent has read it up to the session of {last:%-d %B %Y}."
            yield RuleResult(0, message, note.path, path=note.path)


def _written(note: Note, evidence: Evidence) -> datetime:
    """When the note was written last: as it says itself, else as git does, else as its file."""
    try:
        at = datetime.fromisoformat(note.stamped)
    except ValueError:
        file_time = datetime.fromtimestamp(max(note.facts.modified, 0), UTC)
        at = evidence.committed_at(note) or file_time
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    # a day without a time lasts until its end
    return at + timedelta(days=1) if len(note.stamped) == len("2026-11-19") else at


def _stale_rests_on(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    return memory.files, context.retention


@memory_rule(
    "stale",
    Severity.WARNING,
    "retention has fallen under the threshold of the type",
    rests_on=_stale_rests_on,
)
def stale(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Notes whose time is over, and those that the person called wrong."""
    for path, retention in context.retention.items():
        note = memory.by_path.get(path)
        if note is None or not retention.is_stale:
            continue
        if retention.life.is_wrong:
            said = "You said that it is wrong."
            yield RuleResult(0, said, f"wrong {note.text}", retention.reasons, path)
            continue
        reasons = ", ".join(retention.reasons)
        share, threshold = _told_apart(retention.share, retention.threshold)
        said = f"Retention {share}, under {threshold}: {reasons}."
        yield RuleResult(0, said, note.text, path=path)


def _told_apart(lower: float, higher: float) -> tuple[str, str]:
    """Return two shares with as many digits as it takes to see which is the lower one."""
    for digits in range(2, 6):
        told = f"{lower:.{digits}f}", f"{higher:.{digits}f}"
        if told[0] != told[1]:
            return told
    return f"{lower}", f"{higher}"
