"""Probes: what a statement speaks of is looked at, now, on disk and in git.

A probe runs nothing of the project, opens plain files alone, follows no link, and leaves neither
the project nor the memory, whatever path it is given. How much is looked at is bounded.
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
"""Of a SHA-256, as handoffs name it."""
NAME, BESIDE = "HANDOFF.md", "HANDOFF.new.md"
"""How a handoff is called in its project; the other where that name is somebody else's."""
OWN = frozenset((NAME, BESIDE))
"""Files that we write, which say nothing of the work."""
MOST_LOOKS = 2_000
MOST_BYTES = 512 * 1024 * 1024


class World:
    """A project and a memory as they are found. Each thing is looked at once: what is said of it
    later is what was seen then.
    """

    def __init__(
        self,
        project: str,
        memory: str = "",
        own: Collection[str] = OWN,
        step: Callable[[], None] = lambda: None,
        now: float = inf,
    ) -> None:
        """`project` and `memory` are directories, "" where there is none; `own` are the files of
        the project that handoffs write. `step` is called all the while; what it raises is raised
        by whatever looks. Later than `now`, in seconds since 1970, nothing can have happened.
        Nothing is looked at yet.
        """
        self.now = now
        self.project = project
        self.memory = memory
        self.own = frozenset(own)
        self._step = step
        self._files: dict[tuple[str, str], Look] = {}
        self._bytes = 0

    def file(self, path: str) -> Look:
        """Return what stands at a `path` of the project, with `/`."""
        return self._look_up(self.project, path)

    def note(self, path: str) -> Look:
        """Return what stands at a `path` of the memory."""
        return self._look_up(self.memory, path)

    @cached_property
    def has_memory(self) -> bool:
        """Whether the directory of the memory is there."""
        return bool(self.memory) and is_folder(self.memory)

    @cached_property
    def git(self) -> GitState | None:
        """The repository of the project, our own files aside; None where there is none."""
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
    """Return the state of a repository without the files that handoffs write."""
    return replace(state, dirty=tuple(path for path in state.dirty if path not in own))


def is_as_told(state: Look, sha: str | None) -> bool:
    """Say whether a file is what was told of it: `sha` are the first digits of its SHA-256, at
    least 12 of them; None says that it is not there.
    """
    if isinstance(state, FileNow):
        return sha is not None and len(sha) >= DIGITS and state.sha.startswith(sha)
    return state is Gone.GONE and sha is None


def told(state: Look) -> str:
    """Return in words what was seen."""
    match state:
        case FileNow(sha=sha):
            return f"is {sha[:DIGITS]}"
        case Gone.GONE:
            return "is not there"
        case Unseen():
            return state.value
