"""Resuming: a handoff is read, and probed again in the project in which it stands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ricordo import git
from ricordo.agents.place import MemoryPlace
from ricordo.errors import HandoffUnreadable, MemoryNotFound, StateUnusable
from ricordo.handoff.check import BESIDE, NAME, OWN, World
from ricordo.handoff.document import HandoffHeader, HandoffStatement
from ricordo.handoff.format import MOST_BYTES, Parsed, State, parse
from ricordo.handoff.lookup import Transcripts
from ricordo.handoff.marks import basis
from ricordo.handoff.project_git import is_known
from ricordo.handoff.resume import Resumed, resume
from ricordo.handoff.since import FileChange
from ricordo.secrets import mask
from ricordo.services.handoff.facts import known_transcripts
from ricordo.services.handoff.handoff import project_of
from ricordo.services.handoff.output import REASON, Finished
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import all_memories, find_memory
from ricordo.storage.database import Database
from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.history import History
from ricordo.storage.operation import CHANGE
from ricordo.text import one_line


@dataclass(frozen=True, slots=True)
class Resumption:
    """A handoff that was read, and what still holds of it."""

    path: str
    """Absolute path of its file."""
    project: str
    """In which it was probed."""
    resumed: Resumed
    remarks: tuple[str, ...]
    """What the person should know besides, a sentence each."""


def resume_handoff(
    surroundings: Environment,
    path: str = "",
    memory: str | None = None,
    step: Callable[[], None] = lambda: None,
) -> Resumption:
    """Return what still holds of the handoff in the file `path`, "" for that of the project here;
    `memory` is the one whose notes it names, where the person says so. `step` is called all the
    while; what it raises is raised here.

    Raises HandoffUnreadable where there is none of ours, and MemoryNotFound where `memory` is none.
    """
    place = _place(surroundings, os.path.dirname(_full(surroundings, path)), memory)
    full = _full(surroundings, path) if path else _own_file(surroundings, place)
    raw, parsed = _parsed(full)
    assert parsed.handoff is not None
    head = parsed.handoff.head
    project = _project_of(head, os.path.dirname(full), place, surroundings)
    notes = _notes(head, place, surroundings)
    own = OWN | {os.path.relpath(os.path.realpath(full), os.path.realpath(project))}
    world = World(project, notes, own, step)
    says = Transcripts(parsed.handoff, known_transcripts(surroundings, raw), step)
    is_edited = parsed.state is not State.WHOLE
    resumed = resume(parsed.handoff, world, says, surroundings.now, is_edited=is_edited)
    told = (parsed.why, _about_memory(head, notes), *resumed.remarks)
    return Resumption(full, project, _without_secrets(resumed), tuple(filter(None, told)))


def _without_secrets(resumed: Resumed) -> Resumed:
    """Return it without what looks like a credential in what was seen: names of files and branches,
    subjects of commits.
    """
    found = resumed.changed
    return replace(
        resumed,
        statements=tuple(replace(it, why=mask(it.why)) for it in resumed.statements),
        changed=replace(
            found,
            commits=tuple(it._replace(subject=mask(it.subject)) for it in found.commits),
            files=tuple(map(_masked, found.files)),
            notes=tuple(map(_masked, found.notes)),
        ),
    )


def _masked(it: FileChange) -> FileChange:
    return replace(it, path=mask(it.path), to=mask(it.to))


def _full(surroundings: Environment, path: str) -> str:
    return os.path.normpath(os.path.join(surroundings.cwd, path)) if path else ""


def _place(surroundings: Environment, folder: str, memory: str | None) -> MemoryPlace | None:
    """The memory of whoever works in the `folder`, "" for the current one; None without one."""
    if memory is not None:
        return find_memory(memory, surroundings)
    try:
        return find_memory(None, surroundings._replace(cwd=folder or surroundings.cwd))
    except MemoryNotFound:
        return None


def _own_file(surroundings: Environment, place: MemoryPlace | None) -> str:
    """The handoff of the project here, of two the one written last: beside one that is not ours, or
    that somebody edited, ours goes on under another name.
    """
    project = _project(surroundings.cwd, place)
    paths = [os.path.join(project, name) for name in (NAME, BESIDE)]
    there = {path: it for path in paths if (it := _read(path)[1].handoff) is not None}
    return max(there, key=lambda path: there[path].head.written, default=paths[0])


def _project(folder: str, place: MemoryPlace | None) -> str:
    """The project to which a folder belongs."""
    real = os.path.realpath(folder)
    project = os.path.realpath(place.project) if place and place.project else ""
    if project and f"{real}/".startswith(f"{project.rstrip('/')}/"):
        return project
    return git.top_level(real) or real


def _project_of(
    head: HandoffHeader, folder: str, place: MemoryPlace | None, surroundings: Environment
) -> str:
    """The project of a handoff in the `folder`: where it lies, unless only the one in which the
    person stands, or that of the memory, is the one that it names or has its commit: a handoff may
    be written anywhere.
    """
    here = _project(folder, place)
    cwd = os.path.realpath(surroundings.cwd)
    of_memory = os.path.realpath(place.project) if place and place.project else ""
    known = (here, of_memory, git.top_level(cwd) or cwd)
    if head.project and head.project in known:
        return head.project
    if not head.commit:
        return here
    return next((it for it in known if it and is_known(it, head.commit)), here)


def _parsed(path: str) -> tuple[bytes, Parsed]:
    raw, parsed = _read(path)
    if parsed.handoff is not None:
        return raw, parsed
    shown = one_line(path)
    if not os.path.lexists(path):
        raise HandoffUnreadable(f"There is no handoff at {shown}: `ricordo handoff` writes one.")
    raise HandoffUnreadable(f"{shown} is no handoff of ours. {parsed.why}")


def _read(path: str) -> tuple[bytes, Parsed]:
    raw = read_plain_file(path, MOST_BYTES + 1)
    if raw is None:
        return b"", Parsed(State.FOREIGN, None, "It is no plain file that can be read.")
    return raw, parse(raw)


def _notes(head: HandoffHeader, place: MemoryPlace | None, surroundings: Environment) -> str:
    """Where the notes are looked for: in the memory that the head names, if it is one of those that
    are known here or were worked with, else in the one of the project; "" for nowhere.
    """
    if not head.memory:
        return ""
    named = os.path.realpath(head.memory)
    if place is not None and place.root == named:
        return named
    if any(it.root == named for it in all_memories(surroundings)):
        return named
    if _was_worked_with(named, surroundings):
        return named
    return place.root if place else ""


def _was_worked_with(root: str, surroundings: Environment) -> bool:
    """Whether the history has the whole of the memory at `root`: the user named it to a command."""
    database = Database(surroundings.state)
    if not database.exists:
        return False
    try:
        with database.opened() as connection:
            history = History(connection)
            known = history.known_root(root)
            return known is not None and history.was_recorded(known.id)
    except StateUnusable:
        return False


def _about_memory(head: HandoffHeader, notes: str) -> str:
    if not head.memory or os.path.realpath(head.memory) == notes:
        return ""
    where = f"notes are looked for in {one_line(notes)}" if notes else "no note is looked at"
    return f"The memory {one_line(head.memory)} is not known here: {where}."


_MOST = 20


def handoffs_written(notebook: Notebook) -> tuple[str, ...]:
    """Return the absolute paths of what may be handoffs and is there: those of the project first,
    then those that were written elsewhere, the latest first. Raises StateUnusable.
    """
    found = dict.fromkeys((*_of_project(notebook), *_of_history(notebook)))
    return tuple(path for path in found if os.path.lexists(path))[:_MOST]


def _of_project(notebook: Notebook) -> Iterator[str]:
    try:
        project = project_of(notebook)
    except MemoryNotFound:
        return
    yield from (os.path.join(project, name) for name in (NAME, BESIDE))


def _of_history(notebook: Notebook) -> Iterator[str]:
    if not notebook.database.exists:
        return
    with notebook.database.opened() as connection:
        history = History(connection)
        root = history.known_root(notebook.place.root)
        acts = history.acts(root.id) if root else []
        for act in reversed(acts):
            if act.kind == CHANGE and act.reason.startswith(REASON):
                for op in history.ops(act.n):
                    yield os.path.join(history.root_of_id(op.root).path, op.path)


def describe_handoff(done: Finished, path: str) -> dict[str, Any]:
    """Return what `handoff --json` prints of a handoff that was written to `path`."""
    head = done.handoff.head
    return {
        "path": path,
        "for": head.target.name,
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


def describe_statement(it: HandoffStatement, sessions: int) -> dict[str, Any]:
    """Return one statement; what it quotes stands behind its text."""
    return {
        "text": "\n".join(filter(None, (it.text, it.quote))),
        "section": it.section.value,
        "status": it.status.value,
        "probe": basis(it.proof, sessions) or None,
    }


def _change(it: FileChange) -> dict[str, str | None]:
    return {"path": it.path, "kind": it.kind.value, "to": it.to or None}
