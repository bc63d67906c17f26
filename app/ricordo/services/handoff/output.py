"""Writing a drafted handoff, and making the next agent read it.

A draft is redacted and fitted into its budget, then written through the transactional writer. The
line that makes an agent read it at every start is a change set of its own, only made on request.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ricordo.errors import ChangeRefused, EditRefused
from ricordo.handoff.budget import count_tokens, fit_to_budget
from ricordo.handoff.check import HANDOFF_FILES, CurrentState
from ricordo.handoff.document import Handoff, HandoffStatement
from ricordo.handoff.format import normalize, render
from ricordo.handoff.pickup import (
    PickupLine,
    build_pickup_edit,
    build_start_command,
    find_destination,
    find_pickup_line,
)
from ricordo.handoff.prove import prove
from ricordo.handoff.redaction import add_redaction_count, drop_remaining_secrets, redact_handoff
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.program import run_program_in
from ricordo.llm.question import RequestLimits
from ricordo.memory.change import Change, ChangeSet, WriteFile
from ricordo.memory.memory import Memory
from ricordo.services.edits.change import apply_or_merge, build_change_set
from ricordo.services.handoff.handoff import HandoffDraft, find_project
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.writer import Applied
from ricordo.text import make_one_line, make_visible

REASON_PREFIX = "handoff for"
"""How the reason of a handoff begins in the history; the target follows."""


@dataclass(frozen=True, slots=True)
class RenderedHandoff:
    """A handoff as it is written."""

    handoff: Handoff
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class WrittenHandoff:
    """A handoff that was written."""

    path: str
    """Absolute."""
    start_command: str
    """The command that starts the next agent with it."""
    act: int | None
    """Its number in the history; None where the file was already the same."""


def finish_draft(draft: HandoffDraft) -> RenderedHandoff:
    """Return a draft as it is written: redacted, and within its budget.

    Raises WrongUsage where the header does not fit into the budget, and ChangeRefused where a
    secret could not be redacted.
    """
    redacted = redact_handoff(normalize(draft.handoff), draft.redaction)
    handoff = add_redaction_count(
        drop_remaining_secrets(fit_to_budget(add_redaction_count(redacted)), draft.redaction)
    )
    return RenderedHandoff(handoff, render(handoff), count_tokens(handoff))


def build_change(
    notebook: Notebook, memory: Memory, draft: HandoffDraft, output: RenderedHandoff
) -> ChangeSet:
    """Return the change set that writes a handoff. Raises ChangeRefused."""
    to = draft.destination
    folder, name = os.path.split(to.path)
    reason = f"{REASON_PREFIX} {output.handoff.header.target.shown}"
    edit = WriteFile(folder, name, to.content, output.text)
    return build_change_set(notebook, memory, [Change(edit, reason)])


def write_handoff(
    notebook: Notebook, memory: Memory, draft: HandoffDraft, output: RenderedHandoff
) -> WrittenHandoff:
    """Write a handoff. Raises ChangeRefused, EditRefused where another program wrote the file since
    it was drafted, WriteFailed, StateUnusable and Busy.
    """
    path, start = draft.destination.path, find_start_command(notebook, draft)
    change_set = build_change(notebook, memory, draft, output)
    if not change_set:
        return WrittenHandoff(path, start, None)
    outcome = apply_or_merge(notebook, change_set)
    if not isinstance(outcome, Applied):
        # a merge of two handoffs would be neither
        raise EditRefused(f"Another program wrote {make_visible(path)} meanwhile.")
    return WrittenHandoff(path, start, outcome.act)


def find_start_command(notebook: Notebook, draft: HandoffDraft) -> str:
    """Return the command that starts the next agent with the handoff of a draft."""
    path = draft.destination.path
    inside = os.path.relpath(path, find_project(notebook))
    return build_start_command(
        draft.handoff.header.target, path if inside.startswith("..") else inside
    )


def find_pickup(notebook: Notebook, draft: HandoffDraft) -> PickupLine | None:
    """Return the line, and its file, that makes the agent read the handoff at every start; None
    where there is none.
    """
    header = draft.handoff.header
    return find_pickup_line(header.target, find_project(notebook), draft.destination.path)


def build_pickup_change(notebook: Notebook, memory: Memory, line: PickupLine) -> ChangeSet:
    """Return the change set that adds that line, empty where it is there already; it is reviewed
    and applied as any other. Raises ChangeRefused, with the line to paste, where the file is
    anything unusual.
    """
    edit = build_pickup_edit(find_project(notebook), line)
    return build_change_set(notebook, memory, [Change(edit, f"{line.file} names the handoff")])


_BOUNDS = RequestLimits(total=3600.0, max_bytes=1024 * 1024)
_LIMIT_MESSAGES = {
    FailureCause.TOO_LONG: "stopped: output larger than 1 MB.",
    FailureCause.TOO_SLOW: "stopped after 1 hour.",
}


def pipe_to_command(
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
    name = make_one_line(words[0])
    try:
        result = run_program_in(folder, words, text, environ, _BOUNDS, step)
    except ModelFailed as error:
        raise ChangeRefused(f"{name}: {_LIMIT_MESSAGES.get(error.cause, error.message)}") from None
    if result.code:
        raise ChangeRefused(f"{name} exited with code {result.code}. {result.complaint}".strip())
    return result.output.decode("utf-8", "replace")


def list_redacted_statements(draft: HandoffDraft) -> Mapping[HandoffStatement, HandoffStatement]:
    """Return the statements of a draft as they would be written, in order, each with its fact ids,
    mapped to the statements with their secrets. One that cannot be written because of a secret is
    left out.
    """
    # a secret that one statement identifies may be in another
    redact_handoff(normalize(draft.handoff), draft.redaction)
    return {
        redacted: statement
        for statement in draft.handoff.statements
        for redacted in _redact_alone(statement, draft)
    }


def _redact_alone(statement: HandoffStatement, draft: HandoffDraft) -> tuple[HandoffStatement, ...]:
    alone = normalize(replace(draft.handoff, statements=(statement,)))
    redacted = redact_handoff(alone, draft.redaction).statements
    return tuple(replace(clean, fact_ids=statement.fact_ids) for clean in redacted)


def prove_statement(draft: HandoffDraft, statement: HandoffStatement) -> HandoffStatement:
    """Return a reworded statement with its proof."""
    project = draft.facts.project
    handoff_files = HANDOFF_FILES | {os.path.relpath(draft.destination.path, project)}
    return prove(
        (statement,), draft.facts, CurrentState(project, draft.facts.memory, handoff_files)
    )[0]


def select_statements(draft: HandoffDraft, statements: Sequence[HandoffStatement]) -> HandoffDraft:
    """Return a draft with only these `statements`, which still contain their secrets."""
    return replace(draft, handoff=replace(draft.handoff, statements=tuple(statements)))


def build_overwrite(
    notebook: Notebook, draft: HandoffDraft, output: RenderedHandoff, last: str
) -> ChangeSet:
    """Return the change set that writes a handoff over the file that its draft found, or over the
    `last` text that was written. Raises ChangeRefused, and EditRefused where the file has another
    content by now.
    """
    to = find_destination(draft.destination.path)
    is_own = to.content is not None and to.content == last.encode("utf-8")
    if to.path != draft.destination.path or not (is_own or to.content == draft.destination.content):
        message = f"Another program wrote {make_visible(draft.destination.path)} meanwhile."
        raise EditRefused(message, hint="Check the draft again, then write it.")
    return build_change(notebook, notebook.read(), replace(draft, destination=to), output)
