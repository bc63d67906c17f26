"""Findings that are mended, and notes that are protected from being mended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ricordo.lint.finding import Finding
from ricordo.memory.layout import FileRole
from ricordo.memory.protection import is_protected
from ricordo.secrets import find_secrets
from ricordo.services.edits.fix import NEVER_ALONE, fix_one
from ricordo.services.history.maintenance import PurgedFrom, purge_value
from ricordo.storage.decisions import Decision
from ricordo.text import one_line
from ricordo.tui.dialogs.change_set import Extra, ProposalScreen

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet
    from ricordo.memory.note import Note
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.tui.edits.writer import Writing

_PURGES = "purges the history of the value too"
_KEPT = "The history keeps the value until it is purged; p purges it with the same ctrl+s."


class Fixing:
    """Mends findings and decides on notes."""

    def __init__(self, writing: Writing) -> None:
        """`writing` carries it out."""
        self._writing = writing

    async def fix(self, look: Snapshot, findings: Sequence[Finding]) -> None:
        """Show what mends `findings`, and do it."""
        writing = self._writing
        change_set = await asyncio.to_thread(fix_one, writing.notebook, look.memory, findings)
        words = [one_line(finding.message) for finding in findings]
        asks = any(finding.rule in NEVER_ALONE for finding in findings)
        purges = False

        def turn(proposal: ProposalScreen) -> None:
            nonlocal purges
            purges = not purges
            proposal.say_also(_PURGES if purges else "")

        extra = Extra("purge", turn) if asks else None
        words += [_KEPT] if asks else []
        approved = await writing.propose(_title(findings), change_set, words, extra)
        if approved is None:
            return
        values = _values_gone(approved) if purges else []
        told = "Mended. u takes it back."
        if await writing.write_and_tell(approved, "Masked." if values else told) and values:
            for value in values:
                surroundings = writing.notebook.surroundings
                self._tell_purged(await asyncio.to_thread(purge_value, surroundings, value))

    def _tell_purged(self, purged: PurgedFrom) -> None:
        versions = purged.history.contents
        told = f"The value is gone from {versions} version{'' if versions == 1 else 's'}."
        if purged.still_holding:
            files = ", ".join(one_line(path) for path in purged.still_holding[:5])
            told += f" It still stands in {files}."
        self._writing.tell(told, severe=bool(purged.still_holding))

    async def protect(self, look: Snapshot | None, paths: Sequence[str]) -> None:
        """Protect notes, or free them where all are protected."""
        if look is None:
            return
        writing = self._writing
        notes = [look.memory.by_path[path] for path in paths if path in look.memory.by_path]
        by_themselves = [note for note in notes if is_protected(note, ())]
        open_ones = [note.path for note in notes if not look.is_protected(note)]
        ours = [note.path for note in notes if note.path in look.marked]
        if not open_ones and not ours:
            writing.tell(_why_not_freed(by_themselves[0]))
            return
        decision, subjects = (Decision.PROTECT, open_ones) if open_ones else (Decision.FREE, ours)
        notebook = writing.notebook
        now = notebook.surroundings.now.isoformat()
        await asyncio.to_thread(notebook.decisions.decide, decision, subjects, now)
        await writing.show_written()
        count = "It is" if len(subjects) == 1 else f"{len(subjects)} notes are"
        if decision is Decision.PROTECT:
            writing.tell(f"{count} protected: neither the curator nor a fix may change that.")
        else:
            pinned = f" {_why_not_freed(by_themselves[0])}" if by_themselves else ""
            writing.tell(f"{count} free again.{pinned}")


def _title(findings: Sequence[Finding]) -> str:
    first = findings[0]
    if len(findings) == 1 and first.fix is not None:
        return first.fix.label
    return f"Mend {len(findings)} findings"


def _values_gone(change_set: ChangeSet) -> list[str]:
    """Return the credentials that files hold before the change and not after it."""
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


def _why_not_freed(note: Note) -> str:
    name = one_line(note.path)
    if note.role is FileRole.SOURCE:
        return f"{name} is a raw source: those are always protected."
    return f"A field of its own head, pinned or read_only, protects {name}; e edits it."


def mendable(look: Snapshot, paths: Sequence[str], finding_id: str) -> list[Finding]:
    """Return what would be mended: the finding of that id, else the worst that can be of each of
    the notes at `paths`; what has to be asked about only where it is the one.
    """
    if finding_id:
        return [it for it in look.findings if it.id == finding_id and it.fix is not None]
    worst = [
        next((it for it in look.by_path.get(path, ()) if it.fix is not None), None)
        for path in paths
    ]
    found = [it for it in worst if it is not None]
    if len(found) <= 1:
        return found
    # the fixes stand on all that composes changes, which the first paint need not wait for
    from ricordo.services.edits.fix import NEVER_ALONE

    return [it for it in found if it.rule not in NEVER_ALONE]
