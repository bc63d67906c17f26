"""What was changed in a project and its memory since a handoff was written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ricordo.disk.file_now import FileNow, Gone, Look, modified_at
from ricordo.handoff.document import Head
from ricordo.handoff.past import (
    Commit,
    changed_between,
    checked_in,
    commits_since,
    is_behind,
    is_known,
)
from ricordo.handoff.probe import DIGITS, World, is_as_told
from ricordo.handoff.statement import NoteIs, Statement

_MOST_DIRTY = 200
"""Files that are dirty since and are looked at one by one."""


class Kind(StrEnum):
    """What became of a file."""

    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file or a note that is another one."""

    path: str
    kind: Kind
    to: str = ""
    """Its new path; "" where it was not renamed."""


@dataclass(frozen=True, slots=True)
class Changes:
    """All that was changed since."""

    commits: tuple[Commit, ...] = ()
    """Newest first."""
    files: tuple[FileChange, ...] = ()
    notes: tuple[FileChange, ...] = ()
    remark: str = ""
    """Why the commits cannot be told; "" where they can."""


_KINDS = {"A": Kind.CREATED, "D": Kind.DELETED, "R": Kind.RENAMED}
"""By the letters of git; what it calls otherwise was changed."""


def changes_since(head: Head, statements: Iterable[Statement], world: World) -> Changes:
    """Return what was changed since a handoff with that `head` and those `statements`."""
    project = world.project
    has_commit = world.git is not None and is_known(project, head.commit)
    found: dict[str, FileChange] = {}
    if has_commit:
        found = {it.path: it for it in _committed(project, head.commit)}
    found |= {it.path: it for it in _dirty(head, world)}
    found |= {it.path: it for it in _differing(head.files, world.file) if it.path not in found}
    files = [it for it in found.values() if not _was_there(it, head, world)]
    notes = {it.proof.path: it.proof.sha for it in statements if isinstance(it.proof, NoteIs)}
    return Changes(
        commits_since(project, head.commit) if has_commit else (),
        tuple(it for it in _renamed(head.files, files, world) if it.path not in world.own),
        tuple(_differing(notes, world.note)),
        _remark(head, world, has_commit=has_commit),
    )


def _remark(head: Head, world: World, *, has_commit: bool) -> str:
    commit = head.commit[:DIGITS]
    if not commit:
        return ""
    if world.git is None:
        return f"Commit {commit} cannot be looked for: no repository is found here."
    if not has_commit:
        why = "it was rewritten since, or the clone is shallow or another project"
        return f"Commit {commit} is not in this repository: {why}."
    if not is_behind(world.project, head.commit):
        return f"What is checked out does not follow from commit {commit}."
    return ""


def _was_there(it: FileChange, head: Head, world: World) -> bool:
    """Whether what is told as new was there already, not committed, when the handoff was written:
    the head lists it, or may have had no room for it.
    """
    if it.path in head.files:
        return is_as_told(world.file(it.path), head.files[it.path])
    if it.path not in head.dirty and not head.unlisted:
        return False
    modified = modified_at(world.project, it.path)
    return modified is not None and modified <= head.written.timestamp()


def _committed(project: str, commit: str) -> Iterator[FileChange]:
    for letter, path, to in changed_between(project, commit):
        if letter == "C":
            yield FileChange(to, Kind.CREATED)
        else:
            yield FileChange(path, _KINDS.get(letter, Kind.CHANGED), to)


def _dirty(head: Head, world: World) -> Iterator[FileChange]:
    """The files that were as committed and are not any more."""
    if world.git is None:
        return
    paths = [path for path in world.git.dirty if path not in head.dirty][:_MOST_DIRTY]
    known = checked_in(world.project, paths)
    for path in paths:
        if world.file(path) is Gone.GONE:
            yield FileChange(path, Kind.DELETED)
        else:
            yield FileChange(path, Kind.CHANGED if path in known else Kind.CREATED)


def _differing(told: Mapping[str, str | None], look: Callable[[str], Look]) -> Iterator[FileChange]:
    """What is not as it was told, as far as it can be seen."""
    for path, sha in told.items():
        seen = look(path)
        if is_as_told(seen, sha):
            continue
        if seen is Gone.GONE:
            yield FileChange(path, Kind.DELETED)
        elif isinstance(seen, FileNow):
            yield FileChange(path, Kind.CREATED if sha is None else Kind.CHANGED)


def _renamed(
    told: Mapping[str, str | None], found: Sequence[FileChange], world: World
) -> list[FileChange]:
    """What was `found`, where a file that is gone came up under another path as one of them."""
    came = {
        look.sha[:DIGITS]: it.path
        for it in found
        if it.kind is Kind.CREATED and isinstance(look := world.file(it.path), FileNow)
    }
    new = {
        it.path: came[sha]
        for it in found
        if it.kind is Kind.DELETED and (sha := told.get(it.path)) in came and sha is not None
    }
    return [
        replace(it, kind=Kind.RENAMED, to=new[it.path]) if it.path in new else it
        for it in found
        if it.path not in new.values()
    ]
