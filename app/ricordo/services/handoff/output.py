"""Handing over: a draft becomes the file that the next agent reads, and how it picks it up.

`finished` keeps secrets back and fits the draft into its budget; `write` puts it on the disk
through the one door. What makes an agent read it at every start is a change set of its own, never
made unasked.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ricordo.errors import ChangeRefused, EditRefused
from ricordo.handoff.budget import fitted, tokens
from ricordo.handoff.check import OWN, World
from ricordo.handoff.document import Handoff, HandoffStatement, Status
from ricordo.handoff.format import render, tidied
from ricordo.handoff.pickup import Pickup, destination, pickup, pickup_act, start_line
from ricordo.handoff.prove import prove
from ricordo.handoff.redaction import cleaned, counted, without_secrets
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.program import run_in
from ricordo.llm.question import Bounds
from ricordo.memory.change import Change, ChangeSet, WriteFile
from ricordo.memory.memory import Memory
from ricordo.services.edits.change import apply_or_merge, put_together
from ricordo.services.handoff.handoff import HandoffDraft, project_of
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.writer import Applied
from ricordo.text import one_line, visible

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
class WrittenHandoff:
    """A handoff that was written."""

    path: str
    """Absolute."""
    start: str
    """The line to copy that starts the next agent with it."""
    act: int | None
    """In the history; None where the file was just so already."""


def finished(draft: HandoffDraft) -> Finished:
    """Return a draft as it is written: without secrets, within its budget.

    Raises WrongUsage where the budget has no room for its head, and ChangeRefused where a secret
    could not be kept back.
    """
    clean = without_secrets(tidied(draft.handoff), draft.redaction)
    handoff = counted(cleaned(fitted(counted(clean)), draft.redaction))
    return Finished(handoff, render(handoff), tokens(handoff))


def change_of(notebook: Notebook, memory: Memory, draft: HandoffDraft, done: Finished) -> ChangeSet:
    """Return the change set that writes a handoff. Raises ChangeRefused."""
    to = draft.destination
    folder, name = os.path.split(to.path)
    reason = f"{REASON} {done.handoff.head.target.name}"
    act = WriteFile(folder, name, to.before, done.text)
    return put_together(notebook, memory, [Change(act, reason)])


def write(
    notebook: Notebook, memory: Memory, draft: HandoffDraft, done: Finished
) -> WrittenHandoff:
    """Write a handoff. Raises ChangeRefused, Conflict where somebody else wrote the file since it
    was drafted, WriteFailed, StateUnusable and Busy.
    """
    path, start = draft.destination.path, start_of(notebook, draft)
    change_set = change_of(notebook, memory, draft, done)
    if not change_set:
        return WrittenHandoff(path, start, None)
    outcome = apply_or_merge(notebook, change_set)
    if not isinstance(outcome, Applied):
        # lines of two handoffs would be none of either
        raise EditRefused(f"Meanwhile somebody else wrote {visible(path)}.")
    return WrittenHandoff(path, start, outcome.act)


def start_of(notebook: Notebook, draft: HandoffDraft) -> str:
    """Return the line to copy that starts the next agent with the handoff of a draft."""
    path = draft.destination.path
    inside = os.path.relpath(path, project_of(notebook))
    return start_line(draft.handoff.head.target, path if inside.startswith("..") else inside)


def pickup_of(notebook: Notebook, draft: HandoffDraft) -> Pickup | None:
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


_BOUNDS = Bounds(total=3600.0, most_bytes=1024 * 1024)
_OVER = {
    FailureCause.TOO_LONG: "It wrote more than a megabyte, so it was ended.",
    FailureCause.TOO_SLOW: "It ran for an hour, so it was ended.",
}


def pipe(
    words: Sequence[str],
    text: str,
    environ: Mapping[str, str],
    folder: str,
    step: Callable[[], None],
) -> str:
    """Return what the command writes that is started by `words` in a `folder`, reading `text`;
    there is no shell. `step` is called all the while; what it raises ends the command and is raised
    here. Raises ChangeRefused where it failed.
    """
    name = one_line(words[0])
    try:
        ended = run_in(folder, words, text, environ, _BOUNDS, step)
    except ModelFailed as failed:
        raise ChangeRefused(f"{name}: {_OVER.get(failed.cause, failed.message)}") from None
    if ended.code:
        raise ChangeRefused(f"{name} ended with {ended.code}. {ended.complaint}".strip())
    return ended.output.decode("utf-8", "replace")


def statements_of(draft: HandoffDraft) -> Mapping[HandoffStatement, HandoffStatement]:
    """Return the statements of a draft as they would be written, in its order, each still with the
    facts on which it stands, and what it is with its secrets. What cannot be written for a secret
    is none of them.
    """
    # what one statement tells of a secret, another one may hold
    without_secrets(tidied(draft.handoff), draft.redaction)
    return {clean: it for it in draft.handoff.statements for clean in _clean(it, draft)}


def _clean(it: HandoffStatement, draft: HandoffDraft) -> tuple[HandoffStatement, ...]:
    alone = tidied(replace(draft.handoff, statements=(it,)))
    found = without_secrets(alone, draft.redaction).statements
    return tuple(replace(clean, stands_on=it.stands_on) for clean in found)


def proved_of(draft: HandoffDraft, statement: HandoffStatement) -> HandoffStatement:
    """Return a statement in other words with the proof that it has."""
    project = draft.facts.project
    own = OWN | {os.path.relpath(draft.destination.path, project)}
    return prove((statement,), draft.facts, World(project, draft.facts.memory, own))[0]


def chosen(draft: HandoffDraft, wanted: Sequence[HandoffStatement]) -> HandoffDraft:
    """Return a draft of the statements that are `wanted` alone, with their secrets, as they are
    kept back when it is finished.
    """
    return replace(draft, handoff=replace(draft.handoff, statements=tuple(wanted)))


def writing(notebook: Notebook, draft: HandoffDraft, done: Finished, last: str) -> ChangeSet:
    """Return the change set that writes a handoff in the place of what its draft found there, or of
    the `last` text that was written of it. Raises ChangeRefused, and Conflict where something else
    stands there by now.
    """
    to = destination(draft.destination.path)
    is_own = to.before is not None and to.before == last.encode("utf-8")
    if to.path != draft.destination.path or not (is_own or to.before == draft.destination.before):
        said = f"Meanwhile somebody else wrote {visible(draft.destination.path)}."
        raise EditRefused(f"{said} Probe again, and look at it anew.")
    return change_of(notebook, notebook.read(), replace(draft, destination=to), done)
