"""What was changed in a project and its memory since a handoff was written."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from ricordo.agents.transcripts.session import FileAction
from ricordo.handoff.check import DIGITS, World, is_as_told
from ricordo.handoff.document import HandoffHeader, HandoffStatement, NoteIs, ResultMark
from ricordo.handoff.facts import Facts, FileUse, Ran
from ricordo.handoff.project_git import (
    ProjectCommit,
    changed_between,
    checked_in,
    commits_since,
    committed_since,
    is_behind,
    is_known,
)
from ricordo.storage.file_state import FileNow, Gone, Look, modified_at

_MOST_DIRTY = 200
"""Files that are dirty since and are looked at one by one."""


class FileChangeKind(StrEnum):
    """What became of a file."""

    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file or a note that is another one."""

    path: str
    kind: FileChangeKind
    to: str = ""
    """Its new path; "" where it was not renamed."""


@dataclass(frozen=True, slots=True)
class ProjectChanges:
    """All that was changed since."""

    commits: tuple[ProjectCommit, ...] = ()
    """Newest first."""
    files: tuple[FileChange, ...] = ()
    notes: tuple[FileChange, ...] = ()
    remark: str = ""
    """Why the commits cannot be told; "" where they can."""


_KINDS = {"A": FileChangeKind.CREATED, "D": FileChangeKind.DELETED, "R": FileChangeKind.RENAMED}
"""By the letters of git; what it calls otherwise was changed."""


def changes_since(
    head: HandoffHeader, statements: Iterable[HandoffStatement], world: World
) -> ProjectChanges:
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
    return ProjectChanges(
        commits_since(project, head.commit) if has_commit else (),
        tuple(it for it in _renamed(head.files, files, world) if it.path not in world.own),
        tuple(_differing(notes, world.note)),
        _remark(head, world, has_commit=has_commit),
    )


def _remark(head: HandoffHeader, world: World, *, has_commit: bool) -> str:
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


def _was_there(it: FileChange, head: HandoffHeader, world: World) -> bool:
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
            yield FileChange(to, FileChangeKind.CREATED)
        else:
            yield FileChange(path, _KINDS.get(letter, FileChangeKind.CHANGED), to)


def _dirty(head: HandoffHeader, world: World) -> Iterator[FileChange]:
    """The files that were as committed and are not any more."""
    if world.git is None:
        return
    paths = [path for path in world.git.dirty if path not in head.dirty][:_MOST_DIRTY]
    known = checked_in(world.project, paths)
    for path in paths:
        if world.file(path) is Gone.GONE:
            yield FileChange(path, FileChangeKind.DELETED)
        else:
            yield FileChange(
                path, FileChangeKind.CHANGED if path in known else FileChangeKind.CREATED
            )


def _differing(told: Mapping[str, str | None], look: Callable[[str], Look]) -> Iterator[FileChange]:
    """What is not as it was told, as far as it can be seen."""
    for path, sha in told.items():
        seen = look(path)
        if is_as_told(seen, sha):
            continue
        if seen is Gone.GONE:
            yield FileChange(path, FileChangeKind.DELETED)
        elif isinstance(seen, FileNow):
            yield FileChange(
                path, FileChangeKind.CREATED if sha is None else FileChangeKind.CHANGED
            )


def _renamed(
    told: Mapping[str, str | None], found: Sequence[FileChange], world: World
) -> list[FileChange]:
    """What was `found`, where a file that is gone came up under another path as one of them."""
    came = {
        look.sha[:DIGITS]: it.path
        for it in found
        if it.kind is FileChangeKind.CREATED and isinstance(look := world.file(it.path), FileNow)
    }
    new = {
        it.path: came[sha]
        for it in found
        if it.kind is FileChangeKind.DELETED
        and (sha := told.get(it.path)) in came
        and sha is not None
    }
    return [
        replace(it, kind=FileChangeKind.RENAMED, to=new[it.path]) if it.path in new else it
        for it in found
        if it.path not in new.values()
    ]


COMMIT = "commit"
"""Stands among what was changed where a commit was."""
SLACK = 2.0
"""Seconds by which the clocks of a transcript and of a file system may differ."""
_MOST_WORDS = 200
_LONGEST = 4_000
"""Characters of a command that are looked at."""
_MOST_COMMITTED = 1_000
_BEHIND_PATH = re.compile(r"(?:::.*|(?::\d+)+)\Z", re.DOTALL)
"""What test runners take behind a file: a test in it, a line."""


def changed_since(ran: Ran, facts: Facts, world: World) -> tuple[str, ...]:
    """Return what `ran` rests on and was changed after it ran: files, and `commit`."""
    at = _ended(ran, world)
    own = {use.path: use for use in changed_files(facts, world)}
    named = [path for path in named_files(ran.command, facts, world) if path not in own]
    since = [path for path in ran.changed_since if path in own]
    since += [use.path for use in own.values() if _is_changed(use, at, world)]
    since += [path for path in named if _is_later(world, path, at)]
    since += [COMMIT] if _has_committed(at, world) else []
    return tuple(dict.fromkeys(since))


def files_now(
    statements: Iterable[HandoffStatement], facts: Facts, world: World
) -> dict[str, str | None]:
    """Return all that the results among `statements` rest on, as `document.Head` keeps it: each
    file with the first digits of its SHA-256, None where it is not there. What cannot be seen is
    left out.
    """
    paths = [use.path for use in changed_files(facts, world)]
    stood_on = {id for it in statements if isinstance(it.proof, ResultMark) for id in it.stands_on}
    for ran in facts.ran:
        paths += named_files(ran.command, facts, world) if ran.id in stood_on else ()
    found: dict[str, str | None] = {}
    for path in paths:
        look = world.file(path)
        if isinstance(look, FileNow):
            found[path] = look.sha[:DIGITS]
        elif look is Gone.GONE:
            found[path] = None
    return found


def changed_files(facts: Facts, world: World) -> list[FileUse]:
    """Return the files of the project that the sessions changed, without those that are ours."""
    return [
        use
        for use in facts.files
        if use.is_changed and not use.path.startswith("/") and use.path not in world.own
    ]


def named_files(command: str, facts: Facts, world: World) -> tuple[str, ...]:
    """Return the files of the project that a command names and that are there."""
    found = dict.fromkeys(
        path for word in _words(command) if (path := _path(word, facts)) and path not in world.own
    )
    return tuple(path for path in found if isinstance(world.file(path), FileNow))


def moment(at: str) -> float | None:
    """Return a time of a transcript in seconds since 1970; None where it is not known."""
    try:
        told = datetime.fromisoformat(at)
        return (told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _ended(ran: Ran, world: World) -> float | None:
    """When a command ended: what it changes itself, as one that puts files into form, it has seen.
    None where that is not known, or is still to come.
    """
    at = moment(ran.ended or ran.ref.at)
    return None if at is None or at > world.now + SLACK else at


def _words(command: str) -> list[str]:
    text = command[:_LONGEST]
    try:
        return shlex.split(text)[:_MOST_WORDS]
    except ValueError:
        return text.split()[:_MOST_WORDS]


def _path(word: str, facts: Facts) -> str:
    """The path in the project that a word of a command may be; "" for none."""
    name = _BEHIND_PATH.sub("", word.rpartition("=")[2] if word.startswith("-") else word)
    name = facts.names.get(name, name).removeprefix(f"{facts.project.rstrip('/')}/")
    if not re.search(r"[./]", name) or name.startswith(("/", "~")):
        return ""
    path = posixpath.normpath(name)
    return "" if path.startswith("..") or path == "." else path


def _is_changed(use: FileUse, at: float | None, world: World) -> bool:
    if FileAction.DELETED in use.deeds and world.file(use.path) is Gone.GONE:
        return False
    return _is_later(world, use.path, at)


def _is_later(world: World, path: str, at: float | None) -> bool:
    """Whether a file may be another one than it was at that time."""
    look = world.file(path)
    if not isinstance(look, FileNow) or at is None:
        return True
    return look.modified > at + SLACK


def _has_committed(at: float | None, world: World) -> bool:
    """Whether commits since then brought something that was not there yet."""
    if world.git is None or not world.git.commit:
        return False
    paths = None if at is None else committed_since(world.project, at)
    if at is None or paths is None or len(paths) > _MOST_COMMITTED:
        return True
    return any(_brought(world, path, at) for path in paths - world.own)


def _brought(world: World, path: str, at: float) -> bool:
    """Whether a file, or that it is gone, is of later than `at`: a folder is changed by what goes
    out of it.
    """
    modified = modified_at(world.project, path)
    while modified is None and path:
        path = posixpath.dirname(path)
        modified = modified_at(world.project, path)
    return modified is None or modified > at + SLACK
