"""Resuming: a handoff is read, and checked again in its project."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ricordo import git
from ricordo.agents.agent import MemoryPlace
from ricordo.errors import AmbiguousMemory, HandoffUnreadable, MemoryNotFound
from ricordo.handoff.changes import FileChange
from ricordo.handoff.check import FALLBACK_NAME, HANDOFF_FILES, HANDOFF_NAME, CurrentState
from ricordo.handoff.document import HandoffHeader, HandoffStatement, ProofStatus
from ricordo.handoff.format import MAX_BYTES, DocumentState, ParsedDocument, parse
from ricordo.handoff.marks import describe_basis
from ricordo.handoff.project_git import has_commit
from ricordo.handoff.resume import RecheckedHandoff, recheck
from ricordo.secrets import mask
from ricordo.services.handoff.facts import make_quote_lookup
from ricordo.services.handoff.handoff import find_project
from ricordo.services.handoff.output import REASON_PREFIX, RenderedHandoff
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_all_memories, find_memory
from ricordo.storage.database import Database
from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.history import has_history, open_recorded
from ricordo.storage.hook_files import save_handoff_verdict
from ricordo.storage.operation import CHANGE
from ricordo.text import make_one_line


@dataclass(frozen=True, slots=True)
class ResumeReport:
    """A handoff that was read, and which of its statements are still valid."""

    path: str
    """Absolute path of its file."""
    project: str
    """The project in which it was checked."""
    rechecked: RecheckedHandoff
    warnings: tuple[str, ...]
    """What the user should know, a sentence each."""


def resume_handoff(
    environment: Environment,
    path: str = "",
    memory: str | None = None,
    step: Callable[[], None] = lambda: None,
) -> ResumeReport:
    """Check the handoff in the file `path`, "" for that of the current project. `memory` names the
    memory of its notes, None for that of the project. `step` is called regularly; what it raises is
    raised here.

    Raises HandoffUnreadable where the file is not a handoff, and MemoryNotFound where `memory` is
    none.
    """
    place = _find_place(environment, os.path.dirname(_find_full_path(environment, path)), memory)
    full_path = (
        _find_full_path(environment, path) if path else _find_handoff_file(environment, place)
    )
    raw, parsed = _parse_file(full_path)
    assert parsed.handoff is not None
    header = parsed.handoff.header
    project = _find_project_of(header, os.path.dirname(full_path), place, environment)
    notes = _find_notes_folder(header, place, environment)
    handoff_files = HANDOFF_FILES | {
        os.path.relpath(os.path.realpath(full_path), os.path.realpath(project))
    }
    current = CurrentState(project, notes, handoff_files, step)
    says = make_quote_lookup(environment, parsed.handoff, raw, step)
    is_edited = parsed.state is not DocumentState.UNCHANGED
    resumed = recheck(parsed.handoff, current, says, environment.now, is_edited=is_edited)
    _keep_verdict(environment, full_path, resumed)
    warnings = (parsed.reason, _explain_memory(header, notes), *resumed.warnings)
    return ResumeReport(full_path, project, _redact(resumed), tuple(filter(None, warnings)))


_NEVER_VALID = (ProofStatus.STALE, ProofStatus.UNVERIFIED)
"""The marks of statements that were not valid when they were written."""


def _keep_verdict(environment: Environment, path: str, resumed: RecheckedHandoff) -> None:
    """Keep the numbers for the hook that tells an agent of the handoff."""
    verdict = {
        "at": environment.now.isoformat(),
        "total": sum(it.status_then not in _NEVER_VALID for it in resumed.statements),
        "wrong": sum(not statement.is_valid for statement in resumed.statements),
    }
    # the report is what was asked for; without the numbers the hook says less
    with suppress(OSError):
        save_handoff_verdict(environment.state, path, verdict)


def _redact(resumed: RecheckedHandoff) -> RecheckedHandoff:
    """Return a result without credentials in names of files and branches and in subjects of
    commits.
    """
    changes = resumed.changes
    return replace(
        resumed,
        statements=tuple(replace(item, reason=mask(item.reason)) for item in resumed.statements),
        changes=replace(
            changes,
            commits=tuple(
                commit._replace(subject=mask(commit.subject)) for commit in changes.commits
            ),
            files=tuple(map(_mask_change, changes.files)),
            notes=tuple(map(_mask_change, changes.notes)),
        ),
    )


def _mask_change(change: FileChange) -> FileChange:
    return replace(change, path=mask(change.path), new_path=mask(change.new_path))


def _find_full_path(environment: Environment, path: str) -> str:
    return os.path.normpath(os.path.join(environment.cwd, path)) if path else ""


def _find_place(environment: Environment, folder: str, memory: str | None) -> MemoryPlace | None:
    """Return the memory for work in the `folder`, "" for the current one; None without one, or if
    there are several.
    """
    if memory is not None:
        return find_memory(memory, environment)
    try:
        return find_memory(None, environment._replace(cwd=folder or environment.cwd))
    except (AmbiguousMemory, MemoryNotFound):
        return None


def _find_handoff_file(environment: Environment, place: MemoryPlace | None) -> str:
    """Return the path of the latest handoff of the current project: where `HANDOFF.md` is foreign
    or edited, it is written under another name.
    """
    project = _find_project(environment.cwd, place)
    paths = [os.path.join(project, name) for name in (HANDOFF_NAME, FALLBACK_NAME)]
    handoffs = {
        path: handoff for path in paths if (handoff := _read_file(path)[1].handoff) is not None
    }
    return max(handoffs, key=lambda path: handoffs[path].header.written, default=paths[0])


def _find_project(folder: str, place: MemoryPlace | None) -> str:
    """Return the project of a folder."""
    real = os.path.realpath(folder)
    project = os.path.realpath(place.project) if place and place.project else ""
    if project and f"{real}/".startswith(f"{project.rstrip('/')}/"):
        return project
    return git.find_top_level(real) or real


def _find_project_of(
    header: HandoffHeader, folder: str, place: MemoryPlace | None, environment: Environment
) -> str:
    """Return the project of a handoff in the `folder`, which may be anywhere: the one that it names
    or whose commit it has, if that is the folder's project, the memory's, or the current one; else
    the folder's.
    """
    here = _find_project(folder, place)
    cwd = os.path.realpath(environment.cwd)
    of_memory = os.path.realpath(place.project) if place and place.project else ""
    candidates = (here, of_memory, git.find_top_level(cwd) or cwd)
    if header.project and header.project in candidates:
        return header.project
    if not header.commit:
        return here
    return next(
        (
            candidate
            for candidate in candidates
            if candidate and has_commit(candidate, header.commit)
        ),
        here,
    )


def _parse_file(path: str) -> tuple[bytes, ParsedDocument]:
    raw, parsed = _read_file(path)
    if parsed.handoff is not None:
        return raw, parsed
    shown = make_one_line(path)
    if not os.path.lexists(path):
        raise HandoffUnreadable(f"No handoff at {shown}.", hint="Write one with `ricordo handoff`.")
    raise HandoffUnreadable(f"{shown} is not a Ricordo handoff. {parsed.reason}")


def _read_file(path: str) -> tuple[bytes, ParsedDocument]:
    raw = read_plain_file(path, MAX_BYTES + 1)
    if raw is None:
        return b"", ParsedDocument(DocumentState.FOREIGN, None, "It is not a readable plain file.")
    return raw, parse(raw)


def _find_notes_folder(
    header: HandoffHeader, place: MemoryPlace | None, environment: Environment
) -> str:
    """Return the memory in which notes are checked: the one that the header names, if it is known
    here or has a history, else that of the project; "" for none.
    """
    if not header.memory:
        return ""
    root = os.path.realpath(header.memory)
    if place is not None and place.root == root:
        return root
    if any(place.root == root for place in find_all_memories(environment)):
        return root
    if has_history(Database(environment.state), root):
        return root
    return place.root if place else ""


def _explain_memory(header: HandoffHeader, notes: str) -> str:
    if not header.memory or os.path.realpath(header.memory) == notes:
        return ""
    consequence = (
        f"notes are checked in {make_one_line(notes)}" if notes else "notes are not checked"
    )
    return f"Unknown memory {make_one_line(header.memory)}: {consequence}."


_MAX_HANDOFFS = 20


def list_handoffs(notebook: Notebook) -> tuple[str, ...]:
    """Return the absolute paths of existing files that may be handoffs: those of the project first,
    then those written elsewhere, the latest first. Raises StateUnusable.
    """
    paths = dict.fromkeys((*_list_in_project(notebook), *_list_in_history(notebook)))
    return tuple(path for path in paths if os.path.lexists(path))[:_MAX_HANDOFFS]


def _list_in_project(notebook: Notebook) -> Iterator[str]:
    try:
        project = find_project(notebook)
    except MemoryNotFound:
        return
    yield from (os.path.join(project, name) for name in (HANDOFF_NAME, FALLBACK_NAME))


def _list_in_history(notebook: Notebook) -> Iterator[str]:
    with open_recorded(notebook.database, notebook.place.root) as recorded:
        if recorded is None:
            return
        history, root = recorded
        for act in reversed(history.list_entries(root)):
            if act.kind == CHANGE and act.reason.startswith(REASON_PREFIX):
                for op in history.list_operations(act.n):
                    yield os.path.join(history.get_root(op.root).path, op.path)


def describe_handoff(output: RenderedHandoff, path: str) -> dict[str, Any]:
    """Return the output of `handoff --json` for a handoff that was written to `path`."""
    header = output.handoff.header
    return {
        "path": path,
        "for": header.target.name,
        "tokens": output.tokens,
        "statements": [
            describe_statement(statement, len(header.sources))
            for statement in output.handoff.statements
        ],
        "redactions": header.redactions,
        "left_out": output.handoff.left_out,
        "engine": header.engine,
    }


def describe_resume(resumption: ResumeReport) -> dict[str, Any]:
    """Return the output of `resume --json`."""
    resumed = resumption.rechecked
    sessions = len(resumed.handoff.header.sources)
    changed = resumed.changes
    return {
        "path": resumption.path,
        "holds": resumed.is_valid,
        "statements": [
            {
                **describe_statement(statement.statement, sessions),
                "was": statement.status_then.value,
                "now": statement.status_now.value,
                "holds": statement.is_valid,
                "why": statement.reason,
            }
            for statement in resumed.statements
        ],
        "changed": {
            "commits": [{"id": commit.id, "subject": commit.subject} for commit in changed.commits],
            "files": list(map(_describe_change, changed.files)),
            "notes": list(map(_describe_change, changed.notes)),
        },
        "expired": resumed.has_expired,
        "edited": resumed.is_edited,
        "remarks": list(resumption.warnings),
    }


def describe_statement(statement: HandoffStatement, sessions: int) -> dict[str, Any]:
    """Return the JSON object of a statement, with its quote after its text."""
    return {
        "text": "\n".join(filter(None, (statement.text, statement.quote))),
        "section": statement.section.value,
        "status": statement.status.value,
        "probe": describe_basis(statement.proof, sessions) or None,
    }


def _describe_change(change: FileChange) -> dict[str, str | None]:
    return {"path": change.path, "kind": change.kind.value, "to": change.new_path or None}
