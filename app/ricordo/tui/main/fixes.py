"""The keys that fix findings and protect notes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ricordo.lint.finding import Finding
from ricordo.memory.layout import FileRole
from ricordo.memory.note import is_protected
from ricordo.secrets import find_secrets
from ricordo.services.edits.fix import INTERACTIVE_RULES, compose_fix
from ricordo.services.history.maintenance import purge_value
from ricordo.storage.decisions import Decision
from ricordo.text import make_one_line
from ricordo.tui.dialogs.change_set import ExtraAction, ProposalScreen

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet
    from ricordo.memory.note import Note
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.tui.edits.writer import ChangeWriter

_PURGES = "purges the value from the history too"
_MOST_NAMED = 5
"""Files in a message."""
_KEPT = "The history keeps the value; p makes ctrl+s purge it too."


class FixActions:
    """Fixes findings and protects notes."""

    def __init__(self, writing: ChangeWriter) -> None:
        """`writing` proposes and applies the changes."""
        self._writing = writing

    async def fix(self, snapshot: Snapshot, findings: Sequence[Finding]) -> None:
        """Propose the fix of `findings`, and apply what the user approves."""
        writing = self._writing
        change_set = await asyncio.to_thread(compose_fix, writing.notebook, snapshot, findings)
        words = [make_one_line(finding.message) for finding in findings]
        asks = any(finding.rule in INTERACTIVE_RULES for finding in findings)
        purges = False

        def turn(proposal: ProposalScreen) -> None:
            nonlocal purges
            purges = not purges
            proposal.show_also(_PURGES if purges else "")

        extra = ExtraAction("purge", turn) if asks else None
        words += [_KEPT] if asks else []
        approved = await writing.propose(_title(findings), change_set, words, extra)
        if approved is None:
            return
        values = _removed_secrets(approved) if purges else []
        message = "Masked; purging the history …" if values else "Fixed. u undoes it."
        if await writing.write_and_report(approved, message) and values:
            await self._purge(values)

    async def _purge(self, values: Sequence[str]) -> None:
        environment = self._writing.notebook.environment
        results = [await asyncio.to_thread(purge_value, environment, value) for value in values]
        what = "the value" if len(values) == 1 else f"{len(values)} values"
        message = f"Purged {what} from the history, for good."
        holding = dict.fromkeys(path for purged in results for path in purged.still_holding)
        if holding:
            message += f" Still in {', '.join(map(make_one_line, list(holding)[:_MOST_NAMED]))}."
        self._writing.report(message, severe=bool(holding))

    async def protect(self, snapshot: Snapshot | None, paths: Sequence[str]) -> None:
        """Protect notes; where all are protected, end that."""
        if snapshot is None:
            return
        writing = self._writing
        notes = [snapshot.memory.by_path[path] for path in paths if path in snapshot.memory.by_path]
        self_protected = [note for note in notes if is_protected(note, ())]
        unprotected = [note.path for note in notes if not snapshot.is_protected(note)]
        by_decision = [note.path for note in notes if note.path in snapshot.protected_paths]
        if not unprotected and not by_decision:
            writing.report(_explain_protection(self_protected[0]))
            return
        decision, subjects = (
            (Decision.PROTECT, unprotected) if unprotected else (Decision.UNPROTECT, by_decision)
        )
        notebook = writing.notebook
        now = notebook.environment.now.isoformat()
        await asyncio.to_thread(notebook.decisions.decide, decision, subjects, now)
        await writing.show_written()
        count = "Note" if len(subjects) == 1 else f"{len(subjects)} notes"
        if decision is Decision.PROTECT:
            writing.report(f"{count} protected from the curator and from fixes.")
        else:
            pinned = f" {_explain_protection(self_protected[0])}" if self_protected else ""
            writing.report(f"{count} no longer protected.{pinned}")


def _title(findings: Sequence[Finding]) -> str:
    first = findings[0]
    if len(findings) == 1 and first.fix is not None:
        return first.fix.label
    return f"Fix {len(findings)} findings"


def _removed_secrets(change_set: ChangeSet) -> list[str]:
    """Return the secrets that files hold before the change and not after it."""
    values: dict[str, None] = {}
    for edit in change_set.edits:
        before, after = (
            (raw or b"").decode("utf-8", "surrogateescape") for raw in (edit.before, edit.after)
        )
        for secret in find_secrets(before):
            value = before[secret.start : secret.end]
            if value not in after:
                values[value] = None
    return list(values)


def _explain_protection(note: Note) -> str:
    name = make_one_line(note.path)
    if note.role is FileRole.SOURCE:
        return f"{name} is a raw source, which is always protected."
    return f"{name} is protected by its frontmatter (pinned or read_only); e edits it."
