"""Handing over: a draft becomes the file that the next agent reads, and how it picks it up.

`finished` keeps secrets back and fits the draft into its budget; `write` puts it on the disk
through the one door. What makes an agent read it at every start is a change set of its own, never
made unasked.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ricordo.disk.door import Applied
from ricordo.errors import Conflict
from ricordo.handoff.budget import fitted, tokens
from ricordo.handoff.document import Handoff
from ricordo.handoff.kept_back import cleaned, counted, without_secrets
from ricordo.handoff.pickup import Pickup, pickup, pickup_act, start_line
from ricordo.handoff.render import render, tidied
from ricordo.handoff.statement import Status
from ricordo.memory.change import Change, WriteFile
from ricordo.memory.change_set import ChangeSet
from ricordo.memory.memory import Memory
from ricordo.notebook.change import apply_or_merge, put_together
from ricordo.notebook.handing_off import Draft, project_of
from ricordo.notebook.open import Notebook
from ricordo.text import visible

REASON = "handoff for"
"""How the history tells why one was written; for whom stands behind it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A handoff as it is written."""

    handoff: Handoff
    text: str
    tokens: int

    @property
    def counts(self) -> Mapping[Status, int]:
        """How many statements carry each mark."""
        found = Counter(it.status for it in self.handoff.statements)
        return {status: found[status] for status in Status}


@dataclass(frozen=True, slots=True)
class Written:
    """A handoff that was written."""

    path: str
    """Absolute."""
    start: str
    """The line to copy that starts the next agent with it."""
    act: int | None
    """In the history; None where the file was just so already."""


def finished(draft: Draft) -> Finished:
    """Return a draft as it is written: without secrets, within its budget.

    Raises WrongUsage where the budget has no room for its head, and ChangeRefused where a secret
    could not be kept back.
    """
    clean = without_secrets(tidied(draft.handoff), draft.redaction)
    handoff = counted(cleaned(fitted(counted(clean)), draft.redaction))
    return Finished(handoff, render(handoff), tokens(handoff))


def change_of(notebook: Notebook, memory: Memory, draft: Draft, done: Finished) -> ChangeSet:
    """Return the change set that writes a handoff. Raises ChangeRefused."""
    to = draft.destination
    folder, name = os.path.split(to.path)
    reason = f"{REASON} {done.handoff.head.target.value}"
    act = WriteFile(folder, name, to.before, done.text)
    return put_together(notebook, memory, [Change(act, reason)])


def write(notebook: Notebook, memory: Memory, draft: Draft, done: Finished) -> Written:
    """Write a handoff. Raises ChangeRefused, Conflict where somebody else wrote the file since it
    was drafted, WriteFailed, StateUnusable and Busy.
    """
    path, start = draft.destination.path, start_of(notebook, draft)
    change_set = change_of(notebook, memory, draft, done)
    if not change_set:
        return Written(path, start, None)
    outcome = apply_or_merge(notebook, change_set)
    if not isinstance(outcome, Applied):
        # lines of two handoffs would be none of either
        raise Conflict(f"Meanwhile somebody else wrote {visible(path)}.")
    return Written(path, start, outcome.act)


def start_of(notebook: Notebook, draft: Draft) -> str:
    """Return the line to copy that starts the next agent with the handoff of a draft."""
    path = draft.destination.path
    inside = os.path.relpath(path, project_of(notebook))
    return start_line(draft.handoff.head.target, path if inside.startswith("..") else inside)


def pickup_of(notebook: Notebook, draft: Draft) -> Pickup | None:
    """Return the line, and its file, that makes the agent read the handoff at every start; None
    where there is none for it.
    """
    head = draft.handoff.head
    return pickup(head.target, project_of(notebook), draft.destination.path)


def pickup_change(notebook: Notebook, memory: Memory, wanted: Pickup) -> ChangeSet:
    """Return the change set that adds that line, an empty one where it is there already; to be
    reviewed by the person, and applied as any other. Raises ChangeRefused, with what to paste,
    where the file is anything unusual.
    """
    act = pickup_act(project_of(notebook), wanted)
    return put_together(notebook, memory, [Change(act, f"{wanted.file} names the handoff")])
