"""Changes in a project and its memory since a handoff was written, and since a command ran."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from ricordo.agents.transcripts.session import FileAction
from ricordo.handoff.check import SHA_DIGITS, CurrentState, has_digest
from ricordo.handoff.document import HandoffHeader, HandoffStatement, NoteProof, ResultProof
from ricordo.handoff.facts import CommandFact, Facts, FileUse
from ricordo.handoff.project_git import (
    ProjectCommit,
    has_commit,
    is_ancestor,
    list_commits_since,
    list_committed,
    list_differences,
    list_files_committed_since,
)
from ricordo.storage.file_state import FileState, FileStatus, MissingFile, read_modified

_MAX_DIRTY = 200
"""Newly dirty files that are checked one by one."""


class FileChangeKind(StrEnum):
    """How a file was changed."""

    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file or a note that was changed."""

    path: str
    kind: FileChangeKind
    new_path: str = ""
    """Its new path; "" where it was not renamed."""


@dataclass(frozen=True, slots=True)
class ProjectChanges:
    """All changes since a handoff was written."""

    commits: tuple[ProjectCommit, ...] = ()
    """Newest first."""
    files: tuple[FileChange, ...] = ()
    notes: tuple[FileChange, ...] = ()
    warning: str = ""
    """Why the commits cannot be listed; "" where they can."""


_KINDS = {"A": FileChangeKind.CREATED, "D": FileChangeKind.DELETED, "R": FileChangeKind.RENAMED}
"""By the letters of git; any other letter is a change."""


def find_changes(
    header: HandoffHeader, statements: Iterable[HandoffStatement], current: CurrentState
) -> ProjectChanges:
    """Return the changes since a handoff with this `header` and these `statements`."""
    project = current.project
    is_comparable = current.git is not None and has_commit(project, header.commit)
    changes: dict[str, FileChange] = {}
    if is_comparable:
        changes = {change.path: change for change in _list_committed(project, header.commit)}
    changes |= {change.path: change for change in _list_dirty(header, current)}
    changes |= {
        change.path: change
        for change in _list_differing(header.files, current.check_file)
        if change.path not in changes
    }
    files = [change for change in changes.values() if not _is_old(change, header, current)]
    notes = {
        item.proof.path: item.proof.sha for item in statements if isinstance(item.proof, NoteProof)
    }
    return ProjectChanges(
        list_commits_since(project, header.commit) if is_comparable else (),
        tuple(
            change
            for change in _pair_renamed(header.files, files, current)
            if change.path not in current.handoff_files
        ),
        tuple(_list_differing(notes, current.check_note)),
        _explain_missing_commits(header, current, has_commit=is_comparable),
    )


def _explain_missing_commits(
    header: HandoffHeader, current: CurrentState, *, has_commit: bool
) -> str:
    commit = header.commit[:SHA_DIGITS]
    if not commit:
        return ""
    if current.git is None:
        return f"Commit {commit} cannot be checked: no repository found."
    if not has_commit:
        reason = "it was rewritten since, or the clone is shallow or another project"
        return f"Commit {commit} is not in this repository: {reason}."
    if not is_ancestor(current.project, header.commit):
        return f"Commit {commit} is not in the history of what is checked out."
    return ""


def _is_old(change: FileChange, header: HandoffHeader, current: CurrentState) -> bool:
    """Return whether a change was there, uncommitted, when the handoff was written: its header
    lists the file, or may have had no room for it.
    """
    if change.path in header.files:
        return has_digest(current.check_file(change.path), header.files[change.path])
    if change.path not in header.dirty and not header.unlisted:
        return False
    modified_time = read_modified(current.project, change.path)
    return modified_time is not None and modified_time <= header.written.timestamp()


def _list_committed(project: str, commit: str) -> Iterator[FileChange]:
    for letter, path, to in list_differences(project, commit):
        if letter == "C":
            yield FileChange(to, FileChangeKind.CREATED)
        else:
            yield FileChange(path, _KINDS.get(letter, FileChangeKind.CHANGED), to)


def _list_dirty(header: HandoffHeader, current: CurrentState) -> Iterator[FileChange]:
    """Yield the files that were clean and are dirty now."""
    if current.git is None:
        return
    paths = [path for path in current.git.dirty if path not in header.dirty][:_MAX_DIRTY]
    committed = list_committed(current.project, paths)
    for path in paths:
        if current.check_file(path) is MissingFile.GONE:
            yield FileChange(path, FileChangeKind.DELETED)
        else:
            yield FileChange(
                path, FileChangeKind.CHANGED if path in committed else FileChangeKind.CREATED
            )


def _list_differing(
    recorded: Mapping[str, str | None], read_state: Callable[[str], FileStatus]
) -> Iterator[FileChange]:
    """Yield the files that differ from what was recorded, as far as they can be read."""
    for path, sha in recorded.items():
        state = read_state(path)
        if has_digest(state, sha):
            continue
        if state is MissingFile.GONE:
            yield FileChange(path, FileChangeKind.DELETED)
        elif isinstance(state, FileState):
            yield FileChange(
                path, FileChangeKind.CREATED if sha is None else FileChangeKind.CHANGED
            )


def _pair_renamed(
    recorded: Mapping[str, str | None], changes: Sequence[FileChange], current: CurrentState
) -> list[FileChange]:
    """Return `changes` with a deletion and a creation of the same content merged into one
    rename.
    """
    created = {
        state.sha[:SHA_DIGITS]: change.path
        for change in changes
        if change.kind is FileChangeKind.CREATED
        and isinstance(state := current.check_file(change.path), FileState)
    }
    new_paths = {
        change.path: created[sha]
        for change in changes
        if change.kind is FileChangeKind.DELETED
        and (sha := recorded.get(change.path)) in created
        and sha is not None
    }
    return [
        replace(change, kind=FileChangeKind.RENAMED, new_path=new_paths[change.path])
        if change.path in new_paths
        else change
        for change in changes
        if change.path not in new_paths.values()
    ]


NEW_COMMIT = "commit"
"""Marks a new commit in a list of changed files."""
CLOCK_TOLERANCE = 2.0
"""Seconds by which the clocks of a transcript and of a file system may differ."""
_MAX_WORDS = 200
_MAX_COMMAND = 4_000
"""Characters of a command that are searched."""
_MAX_COMMITTED = 1_000
_PATH_SUFFIX = re.compile(r"(?:::.*|(?::\d+)+)\Z", re.DOTALL)
"""What test runners accept after a file: a test in it, a line."""


def find_changed_dependencies(
    run: CommandFact, facts: Facts, current: CurrentState
) -> tuple[str, ...]:
    """Return what the result of `run` depends on and was changed after it ran: files, and
    `commit`.
    """
    ended = _find_end(run, current)
    changed = {use.path: use for use in list_changed_files(facts, current)}
    named_paths = [
        path for path in list_named_files(run.command, facts, current) if path not in changed
    ]
    names = [path for path in run.changed_since if path in changed]
    names += [use.path for use in changed.values() if _was_changed(use, ended, current)]
    names += [path for path in named_paths if _is_newer(current, path, ended)]
    names += [NEW_COMMIT] if _has_committed(ended, current) else []
    return tuple(dict.fromkeys(names))


def read_dependencies(
    statements: Iterable[HandoffStatement], facts: Facts, current: CurrentState
) -> dict[str, str | None]:
    """Return the files that the results among `statements` depend on, as the header lists them:
    each with the first digits of its SHA-256, None where it does not exist. A file that cannot be
    read is left out.
    """
    paths = [use.path for use in list_changed_files(facts, current)]
    cited = {
        id
        for statement in statements
        if isinstance(statement.proof, ResultProof)
        for id in statement.fact_ids
    }
    for ran in facts.commands:
        paths += list_named_files(ran.command, facts, current) if ran.id in cited else ()
    states: dict[str, str | None] = {}
    for path in paths:
        state = current.check_file(path)
        if isinstance(state, FileState):
            states[path] = state.sha[:SHA_DIGITS]
        elif state is MissingFile.GONE:
            states[path] = None
    return states


def list_changed_files(facts: Facts, current: CurrentState) -> list[FileUse]:
    """Return the files of the project that the sessions changed, without the handoff files."""
    return [
        use
        for use in facts.files
        if use.is_changed and not use.path.startswith("/") and use.path not in current.handoff_files
    ]


def list_named_files(command: str, facts: Facts, current: CurrentState) -> tuple[str, ...]:
    """Return the existing files of the project that a command names."""
    paths = dict.fromkeys(
        path
        for word in _split_command(command)
        if (path := _find_path(word, facts)) and path not in current.handoff_files
    )
    return tuple(path for path in paths if isinstance(current.check_file(path), FileState))


def parse_time(text: str) -> float | None:
    """Return a time of a transcript in seconds since 1970; None where it cannot be read."""
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _find_end(run: CommandFact, current: CurrentState) -> float | None:
    """Return when a command ended: it has seen its own changes, as a formatter does. None where
    that is unknown, or in the future.
    """
    ended = parse_time(run.ended or run.ref.at)
    return None if ended is None or ended > current.now + CLOCK_TOLERANCE else ended


def _split_command(command: str) -> list[str]:
    shortened = command[:_MAX_COMMAND]
    try:
        return shlex.split(shortened)[:_MAX_WORDS]
    except ValueError:
        return shortened.split()[:_MAX_WORDS]


def _find_path(word: str, facts: Facts) -> str:
    """Return the path in the project that a word of a command may name; "" for none."""
    name = _PATH_SUFFIX.sub("", word.rpartition("=")[2] if word.startswith("-") else word)
    name = facts.names.get(name, name).removeprefix(f"{facts.project.rstrip('/')}/")
    if not re.search(r"[./]", name) or name.startswith(("/", "~")):
        return ""
    path = posixpath.normpath(name)
    return "" if path.startswith("..") or path == "." else path


def _was_changed(use: FileUse, at: float | None, current: CurrentState) -> bool:
    if FileAction.DELETED in use.actions and current.check_file(use.path) is MissingFile.GONE:
        return False
    return _is_newer(current, use.path, at)


def _is_newer(current: CurrentState, path: str, at: float | None) -> bool:
    """Return whether a file may have changed after that time."""
    state = current.check_file(path)
    if not isinstance(state, FileState) or at is None:
        return True
    return state.modified > at + CLOCK_TOLERANCE


def _has_committed(at: float | None, current: CurrentState) -> bool:
    """Return whether commits since then added changes that were not on disk yet."""
    if current.git is None or not current.git.commit:
        return False
    paths = None if at is None else list_files_committed_since(current.project, at)
    if at is None or paths is None or len(paths) > _MAX_COMMITTED:
        return True
    return any(_is_new(current, path, at) for path in paths - current.handoff_files)


def _is_new(current: CurrentState, path: str, at: float) -> bool:
    """Return whether a file was changed or deleted after `at`: deleting a file changes its
    folder.
    """
    time = read_modified(current.project, path)
    while time is None and path:
        path = posixpath.dirname(path)
        time = read_modified(current.project, path)
    return time is None or time > at + CLOCK_TOLERANCE
