"""A workplace: the directory in which an agent works, and the repository around it. Read from files
alone, without starting git, because the prompt hook uses it too.
"""

from __future__ import annotations

import os

from ricordo import git
from ricordo.storage.foreign_file import read_plain_file

_LONGEST_PATH = 8192
"""Bytes of a git file that holds a path."""


class Workplace:
    """The directories of a workplace; all three are the same outside a repository."""

    __slots__ = ("directory", "root", "top")

    def __init__(self, directory: str, top: str, root: str) -> None:
        self.directory = directory
        """With symbolic links resolved."""
        self.top = top
        """The root of the worktree that holds it."""
        self.root = root
        """The directory of the project: one for all worktrees of the repository."""

    @property
    def all_directories(self) -> tuple[str, ...]:
        """The three, from the narrowest to the widest, each once."""
        return tuple(dict.fromkeys((self.directory, self.top, self.root)))


def find_workplace(directory: str) -> Workplace:
    """Return the workplace at `directory`, which need not exist."""
    real = os.path.realpath(directory)
    top = git.find_top_level(real)
    if top is None:
        return Workplace(real, real, real)
    return Workplace(real, top, find_main_root(top) or top)


def find_main_root(top: str) -> str | None:
    """Return the root of the main worktree beside the one with the root `top`; None if git has
    none.

    The worktrees of a bare repository have no main one; then it is the repository. The layout is
    that of gitrepository-layout(5). A worktree counts only where its repository names it too, for
    anybody may have written the `.git` of an unpacked folder.
    """
    mark = os.path.join(top, ".git")
    if os.path.isdir(mark):
        return top
    git_dir = _read_path(mark, top, b"gitdir:")
    if not os.path.isfile(os.path.join(git_dir, "HEAD")):
        return None
    common = _read_path(os.path.join(git_dir, "commondir"), git_dir)
    if common in ("", git_dir):
        return top
    named = _read_path(os.path.join(git_dir, "gitdir"), git_dir)
    if os.path.dirname(git_dir) != os.path.join(common, "worktrees") or named != os.path.realpath(
        mark
    ):
        return None
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def _read_path(file: str, folder: str, before: bytes = b"") -> str:
    """Return the path that a git file holds, relative to `folder`; "" if there is none."""
    raw = read_plain_file(file, _LONGEST_PATH + 1) or b""
    path = raw.removeprefix(before).strip()
    if not path or not raw.startswith(before) or len(raw) > _LONGEST_PATH or b"\0" in path:
        return ""
    return os.path.realpath(os.path.join(folder, os.fsdecode(path)))
