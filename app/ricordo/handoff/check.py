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
from ricordo.handoff.project_git import git_state
from ricordo.storage.file_state import FileNow, Gone, Look, Unseen, is_folder, look_at

DIGITS = 12
"""Digits of a SHA-256 that handoffs write."""
NAME, BESIDE = "HANDOFF.md", "HANDOFF.new.md"
"""The file name of a handoff in its project, and the one used where a foreign file has that name.
"""
OWN = frozenset((NAME, BESIDE))
"""Files that Ricordo writes, which say nothing about the work."""
MOST_LOOKS = 2_000
MOST_BYTES = 512 * 1024 * 1024


class World:
    """The project and the memory on disk. Each file is read once: later answers repeat the first
    one.
    """

    def __init__(
        self,
        project: str,
        memory: str = "",
        own: Collection[str] = OWN,
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
        self.own = frozenset(own)
        self._step = step
        self._files: dict[tuple[str, str], Look] = {}
        self._bytes = 0

    def file(self, path: str) -> Look:
        """Return the state of the file at a `path` of the project, with `/`."""
        return self._look_up(self.project, path)

    def note(self, path: str) -> Look:
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
        state = git_state(self.project) if self.project else None
        return state and without_own(state, self.own)

    def _look_up(self, root: str, path: str) -> Look:
        self._step()
        if not root:
            return Unseen.UNREADABLE
        if (root, path) not in self._files:
            self._files[root, path] = self._read_state(root, path)
        return self._files[root, path]

    def _read_state(self, root: str, path: str) -> Look:
        if len(self._files) >= MOST_LOOKS or self._bytes >= MOST_BYTES:
            return Unseen.TOO_MUCH
        state = look_at(root, path, self._step)
        self._bytes += state.size if isinstance(state, FileNow) else 0
        return state


def without_own(state: GitState, own: Collection[str] = OWN) -> GitState:
    """Return the state of a repository without the handoff files."""
    return replace(state, dirty=tuple(path for path in state.dirty if path not in own))


def is_as_told(state: Look, sha: str | None) -> bool:
    """Return whether a file has the recorded content: `sha` are the first digits of its SHA-256, at
    least 12 of them; None records that it did not exist.
    """
    if isinstance(state, FileNow):
        return sha is not None and len(sha) >= DIGITS and state.sha.startswith(sha)
    return state is Gone.GONE and sha is None


def told(state: Look) -> str:
    """Describe the state of a file for a message."""
    match state:
        case FileNow(sha=sha):
            return f"is {sha[:DIGITS]}"
        case Gone.GONE:
            return "is not there"
        case Unseen():
            return state.value
