"""Rules on what agents do with notes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from ricordo.health.evidence import Evidence
from ricordo.health.finding import Severity
from ricordo.health.rule import Context, Found, memory_rule
from ricordo.memory.layout import Role
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note


def _rests_on(memory: Memory, context: Context) -> tuple[object, ...]:
    evidence = context.evidence
    return memory.files, evidence.reads.keys(), evidence.last_session, evidence.commits


@memory_rule(
    "never-read",
    Severity.INFO,
    "no agent has read the note in the known transcripts",
    rests_on=_rests_on,
)
def never_read(memory: Memory, context: Context) -> Iterator[Found]:
    """Notes that were there when the newest known session began, and that none has read.

    That an agent is given the entry of a note is no reading of the note.
    """
    evidence = context.evidence
    if not evidence.last_session:
        return
    last = datetime.fromisoformat(evidence.last_session)
    for note in memory.notes:
        if (
            note.role is Role.NOTE
            and note.path not in evidence.reads
            and _written(note, evidence) < last
        ):
            message = f"No agent has read it up to the session of {last:%-d %B %Y}."
            yield Found(0, message, note.path, path=note.path)


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
