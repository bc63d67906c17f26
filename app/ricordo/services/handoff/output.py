"""Writing a drafted handoff, and making the next agent read it.

A draft is redacted and fitted into its budget, then written through the transactional writer. The
line that makes an agent read it at every start is a change set of its own, only made on request.
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
"""How the reason of a handoff begins in the history; the target follows."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A handoff as it is written."""

    handoff: Handoff
    text: str
    tokens: int

    @property
    def counts(self) -> Mapping[Status, int]:
        """Return how many statements have each mark."""
        by_status = Counter(statement.status for statement in self.handoff.statements)
        return {status: by_status[status] for status in Status}


@dataclass(frozen=True, slots=True)
class WrittenHandoff:
    """A handoff that was written."""

    path: str
    """Absolute."""
    start: str
    """The command that starts the next agent with it."""
    act: int | None
    """Its number in the history; None where the file was already the same."""


def finished(draft: HandoffDraft) -> Finished:
    """Return a draft as it is written: redacted, and within its budget.

    Raises WrongUsage where the header does not fit into the budget, and ChangeRefused where a
    secret could not be redacted.
    """
    redacted = without_secrets(tidied(draft.handoff), draft.redaction)
    handoff = counted(cleaned(fitted(counted(redacted)), draft.redaction))
    return Finished(handoff, render(handoff), tokens(handoff))


def change_of(
    notebook: Notebook, memory: Memory, draft: HandoffDraft, output: Finished
) -> ChangeSet:
    """Return the change set that writes a handoff. Raises ChangeRefused."""
    to = draft.destination
    folder, name = os.path.split(to.path)
    reason = f"{REASON} {output.handoff.head.target.name}"
    edit = WriteFile(folder, name, to.before, output.text)
    return put_together(notebook, memory, [Change(edit, reason)])


def write(
    notebook: Notebook, memory: Memory, draft: HandoffDraft, output: Finished
) -> WrittenHandoff:
    """Write a handoff. Raises ChangeRefused, EditRefused where another program wrote the file since
    it was drafted, WriteFailed, StateUnusable and Busy.
    """
    path, start = draft.destination.path, start_of(notebook, draft)
    change_set = change_of(notebook, memory, draft, output)
    if not change_set:
        return WrittenHandoff(path, start, None)
    outcome = apply_or_merge(notebook, change_set)
    if not isinstance(outcome, Applied):
        # a merge of two handoffs would be neither
        raise EditRefused(f"Another program wrote {visible(path)} meanwhile.")
    return WrittenHandoff(path, start, outcome.act)


def start_of(notebook: Notebook, draft: HandoffDraft) -> str:
    """Return the command that starts the next agent with the handoff of a draft."""
    path = draft.destination.path
    inside = os.path.relpath(path, project_of(notebook))
    return start_line(draft.handoff.head.target, path if inside.startswith("..") else inside)


def pickup_of(notebook: Notebook, draft: HandoffDraft) -> Pickup | None:
    """Return the line, and its file, that makes the agent read the handoff at every start; None
    where there is none.
    """
    header = draft.handoff.head
    return pickup(header.target, project_of(notebook), draft.destination.path)


def pickup_change(notebook: Notebook, memory: Memory, line: Pickup) -> ChangeSet:
    """Return the change set that adds that line, empty where it is there already; it is reviewed
    and applied as any other. Raises ChangeRefused, with the line to paste, where the file is
    anything unusual.
    """
    edit = pickup_act(project_of(notebook), line)
    return put_together(notebook, memory, [Change(edit, f"{line.file} names the handoff")])


_BOUNDS = Bounds(total=3600.0, most_bytes=1024 * 1024)
_LIMIT_MESSAGES = {
    FailureCause.TOO_LONG: "stopped: output larger than 1 MB.",
    FailureCause.TOO_SLOW: "stopped after 1 hour.",
}


def pipe(
    words: Sequence[str],
    text: str,
    environ: Mapping[str, str],
    folder: str,
    step: Callable[[], None],
) -> str:
    """Run the command `words` in a `folder`, without a shell, with `text` as its input, and return
    its output. `step` is called regularly; what it raises ends the command and is raised here.
    Raises ChangeRefused where the command failed.
    """
    name = one_line(words[0])
    try:
        result = run_in(folder, words, text, environ, _BOUNDS, step)
    except ModelFailed as error:
        raise ChangeRefused(f"{name}: {_LIMIT_MESSAGES.get(error.cause, error.message)}") from None
    if result.code:
        raise ChangeRefused(f"{name} exited with code {result.code}. {result.complaint}".strip())
    return result.output.decode("utf-8", "replace")


def statements_of(draft: HandoffDraft) -> Mapping[HandoffStatement, HandoffStatement]:
    """Return the statements of a draft as they would be written, in order, each with its fact ids,
    mapped to the statements with their secrets. One that cannot be written because of a secret is
    left out.
    """
    # a secret that one statement identifies may be in another
    without_secrets(tidied(draft.handoff), draft.redaction)
    return {
        redacted: statement
        for statement in draft.handoff.statements
        for redacted in _redact_alone(statement, draft)
    }


def _redact_alone(statement: HandoffStatement, draft: HandoffDraft) -> tuple[HandoffStatement, ...]:
    alone = tidied(replace(draft.handoff, statements=(statement,)))
    redacted = without_secrets(alone, draft.redaction).statements
    return tuple(replace(clean, stands_on=statement.stands_on) for clean in redacted)


def proved_of(draft: HandoffDraft, statement: HandoffStatement) -> HandoffStatement:
    """Return a reworded statement with its proof."""
    project = draft.facts.project
    handoff_files = OWN | {os.path.relpath(draft.destination.path, project)}
    return prove((statement,), draft.facts, World(project, draft.facts.memory, handoff_files))[0]


def chosen(draft: HandoffDraft, statements: Sequence[HandoffStatement]) -> HandoffDraft:
    """Return a draft with only these `statements`, which still contain their secrets."""
    return replace(draft, handoff=replace(draft.handoff, statements=tuple(statements)))


def writing(notebook: Notebook, draft: HandoffDraft, output: Finished, last: str) -> ChangeSet:
    """Return the change set that writes a handoff over the file that its draft found, or over the
    `last` text that was written. Raises ChangeRefused, and EditRefused where the file has another
    content by now.
    """
    to = destination(draft.destination.path)
    is_own = to.before is not None and to.before == last.encode("utf-8")
    if to.path != draft.destination.path or not (is_own or to.before == draft.destination.before):
        message = f"Another program wrote {visible(draft.destination.path)} meanwhile."
        raise EditRefused(f"{message} Check the draft again, then write it.")
    return change_of(notebook, notebook.read(), replace(draft, destination=to), output)
