"""The memory of a working directory, as far as the catalogue of indexes tells it."""

from __future__ import annotations

import os

from ricordo.recall.catalogue import FOLDER, read_catalogue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_MARK = 4096


class Indexed:
    """A memory that has an index."""

    __slots__ = ("index", "root")

    def __init__(self, root: str, index: str) -> None:
        self.root = root
        self.index = index
        """Path of the index."""


def indexed_memory(state: str, cwd: str) -> Indexed | None:
    """Return the memory whose project, or whose own directory, is the nearest around `cwd`, within
    its repository; in a worktree that of the main one. None where none has an index.
    """
    known = read_catalogue(state)
    by_place: dict[str, list[tuple[int, str, str]]] = {}
    for root, it in known.items():
        rank, index, project = it.get("rank"), it.get("index"), it.get("project")
        if isinstance(rank, int) and isinstance(index, str) and os.path.basename(index) == index:
            for place in {root, project} if isinstance(project, str) else {root}:
                by_place.setdefault(place, []).append((rank, root, index))
    for directory in _around(cwd):
        # one that is away must not keep another one of the same project from answering
        here = [it for it in by_place.get(directory, ()) if os.path.isdir(it[1])]
        if here:
            _, root, index = min(here)
            return Indexed(root, os.path.join(state, FOLDER, index))
    return None


def _around(cwd: str) -> Iterator[str]:
    """The directories from `cwd` upwards to the root of its repository, which is followed by that
    of the main worktree: a repository that lies in a project is none of it.
    """
    folder = os.path.realpath(cwd)
    while not _is_top(folder):
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above
    yield folder
    yield _main_worktree(folder)


def _is_top(folder: str) -> bool:
    # as in ricordo.git, which is more than the hook has the time to load
    mark = os.path.join(folder, ".git")
    return os.path.isfile(mark) or os.path.isfile(os.path.join(mark, "HEAD"))


def _main_worktree(folder: str) -> str:
    """The root of the main worktree, where `folder` is the root of another one; else ""."""
    mark = os.path.join(folder, ".git")
    if not os.path.isfile(mark):
        return ""
    handle = os.open(mark, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = os.fsdecode(os.read(handle, _LONGEST_MARK)).strip()
    finally:
        os.close(handle)
    directory = os.path.join(folder, text.removeprefix("gitdir:").strip())
    common, slash, _ = os.path.normpath(directory).rpartition("/.git/worktrees/")
    return os.path.realpath(common) if slash else ""
