"""Rules on snapshots that are told as facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ricordo.health.finding import Severity
from ricordo.health.prose import Statement, telling
from ricordo.health.rule import Context, Found, note_rule
from ricordo.health.rules.files import NOTES
from ricordo.health.vocabulary import Triggers, compiled, expressions, lowered
from ricordo.memory.note import Note

_NO_CLAIM = re.compile(r"\s*(?:#|[-*+]\s+\[[ xX]\]\s)")
"""Headings, and tasks with a box: they are there to be ticked off."""


@note_rule(
    "status-claim",
    Severity.INFO,
    "“done”, “pending”, “tests pass”: a snapshot told as a fact",
    roles=NOTES,
)
def status_claim(note: Note, context: Context) -> Iterator[Found]:
    """How the work stood when the note was written, once a statement."""
    for statement in telling(note, _triggers()):
        if match := _claimed(statement):
            quoted = statement.quoted(match.start())
            said = " ".join(match.group().strip(" —–-:|()").split())
            message = f"“{said}” was so when it was written."
            yield Found(statement.line_at(match.start()), message, quoted, (quoted,))


def _claimed(statement: Statement) -> re.Match[str] | None:
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
