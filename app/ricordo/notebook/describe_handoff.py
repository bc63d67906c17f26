"""Handoffs as the JSON of `handoff` and `resume`."""

from __future__ import annotations

from typing import Any

from ricordo.handoff.marks import basis
from ricordo.handoff.since import FileChange
from ricordo.handoff.statement import Statement
from ricordo.notebook.handing_over import Finished
from ricordo.notebook.resuming import Resumption


def describe_handoff(done: Finished, path: str) -> dict[str, Any]:
    """Return what `handoff --json` prints of a handoff that was written to `path`."""
    head = done.handoff.head
    return {
        "path": path,
        "for": head.target.value,
        "tokens": done.tokens,
        "statements": [describe_statement(it, len(head.sources)) for it in done.handoff.statements],
        "redactions": head.redactions,
        "left_out": done.handoff.left_out,
    }


def describe_resumption(found: Resumption) -> dict[str, Any]:
    """Return what `resume --json` prints."""
    resumed = found.resumed
    sessions = len(resumed.handoff.head.sources)
    changed = resumed.changed
    return {
        "path": found.path,
        "holds": resumed.holds,
        "statements": [
            {
                **describe_statement(it.statement, sessions),
                "was": it.was.value,
                "now": it.now.value,
                "holds": it.holds,
                "why": it.why,
            }
            for it in resumed.statements
        ],
        "changed": {
            "commits": [{"id": it.id, "subject": it.subject} for it in changed.commits],
            "files": list(map(_change, changed.files)),
            "notes": list(map(_change, changed.notes)),
        },
        "expired": resumed.has_expired,
        "edited": resumed.is_edited,
        "remarks": list(found.remarks),
    }


def describe_statement(it: Statement, sessions: int) -> dict[str, Any]:
    """Return one statement; what it quotes stands behind its text."""
    return {
        "text": "\n".join(filter(None, (it.text, it.quote))),
        "section": it.section.value,
        "status": it.status.value,
        "probe": basis(it.proof, sessions) or None,
    }


def _change(it: FileChange) -> dict[str, str | None]:
    return {"path": it.path, "kind": it.kind.value, "to": it.to or None}
