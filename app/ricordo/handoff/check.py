"""Checks of the project and the memory, as they are now, on disk and in git.

A check runs nothing of the project, opens only plain files, follows no link, and never reads
outside the project and the memory, whatever path it is given. The number and size of the files that
are read are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property
from math import inf

from ricordo.handoff.facts import GitState
from ricordo.handoff.project_git import read_git_state
from ricordo.storage.file_state import (
    FileState,
    FileStatus,
    MissingFile,
    UncheckedFile,
    check_file,
    is_folder,
)

SHA_DIGITS = 12
"""Digits of a SHA-256 that handoffs write."""
HANDOFF_NAME, FALLBACK_NAME = "HANDOFF.md", "HANDOFF.new.md"
"""The file name of a handoff in its project, and the one used where a foreign file has that name.
"""
HANDOFF_FILES = frozenset((HANDOFF_NAME, FALLBACK_NAME))
"""Files that Ricordo writes, which say nothing about the work."""
MAX_CHECKED_FILES = 2_000
MAX_CHECKED_BYTES = 512 * 1024 * 1024


class CurrentState:
    """The project and the memory on disk. Each file is read once: later answers repeat the first
    one.
    """

    def __init__(
        self,
        project: str,
        memory: str = "",
        own: Collection[str] = HANDOFF_FILES,
        step: Callable[[], None] = lambda: None,
        now: float = inf,
    ) -> None:
        """`project` and `memory` are directories, "" for none; `own` are the handoff files of the
        project. `step` is called regularly; what it raises is raised by the method that reads.
        Nothing can have happened later than `now`, in seconds since 1970. Nothing is read yet.
        """
        self.now = now
        self.project = project
        self.memory = memory
        self.handoff_files = frozenset(own)
        self._step = step
        self._files: dict[tuple[str, str], FileStatus] = {}
        self._bytes = 0

    def check_file(self, path: str) -> FileStatus:
        """Return the state of the file at a `path` of the project, with `/`."""
        return self._look_up(self.project, path)

    def check_note(self, path: str) -> FileStatus:
        """Return the state of the file at a `path` of the memory."""
        return self._look_up(self.memory, path)

    @cached_property
    def has_memory(self) -> bool:
        """Whether the directory of the memory exists."""
        return bool(self.memory) and is_folder(self.memory)

    @cached_property
    def git(self) -> GitState | None:
        """The repository of the project, without the handoff files; None where there is none."""
        self._step()
        state = read_git_state(self.project) if self.project else None
        return state and remove_handoff_files(state, self.handoff_files)

    def _look_up(self, root: str, path: str) -> FileStatus:
        self._step()
        if not root:
            return UncheckedFile.UNREADABLE
        if (root, path) not in self._files:
            self._files[root, path] = self._read_state(root, path)
        return self._files[root, path]

    def _read_state(self, root: str, path: str) -> FileStatus:
        if len(self._files) >= MAX_CHECKED_FILES or self._bytes >= MAX_CHECKED_BYTES:
            return UncheckedFile.TOO_MANY
        state = check_file(root, path, self._step)
        self._bytes += state.size if isinstance(state, FileState) else 0
        return state


def remove_handoff_files(state: GitState, own: Collection[str] = HANDOFF_FILES) -> GitState:
    """Return the state of a repository without the handoff files."""
    return replace(state, dirty=tuple(path for path in state.dirty if path not in own))


def has_digest(state: FileStatus, sha: str | None) -> bool:
    """Return whether a file has the recorded content: `sha` are the first digits of its SHA-256, at
    least 12 of them; None records that it did not exist.
    """
    if isinstance(state, FileState):
        return sha is not None and len(sha) >= SHA_DIGITS and state.sha.startswith(sha)
    return state is MissingFile.GONE and sha is None


def describe_file_state(state: FileStatus) -> str:
    """Describe the state of a file for a message."""
    match state:
        case FileState(sha=sha):
            return f"is {sha[:SHA_DIGITS]}"
        case MissingFile.GONE:
            return "is not there"
        case UncheckedFile():
            return state.value
