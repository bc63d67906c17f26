"""A workplace: the directory in which an agent works, and the repository around it. Read from files
alone, without starting git, because the prompt hook uses it too.
"""

from __future__ import annotations

import os

from ricordo import git
from ricordo.storage.foreign_file import read_plain_file

PROJECT_FOLDER = "memory"
"""Where projects that keep their notes beside the code usually keep them."""
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


_LARGEST_REFERENCES = 4 * 1024 * 1024
_COMMIT = frozenset(b"0123456789abcdef")


def read_head_commit(top: str) -> str:
    """Return the id of the commit that is checked out in the worktree with the root `top`; "" if it
    is unknown. The layout is that of gitrepository-layout(5).
    """
    mark = os.path.join(top, ".git")
    git_dir = mark if os.path.isdir(mark) else _read_path(mark, top, b"gitdir:")
    head = _read_line(os.path.join(git_dir, "HEAD"))
    if not head.startswith(b"ref: "):
        return _as_commit(head)
    reference = head[5:].strip()
    name = os.fsdecode(reference)
    if not name.startswith("refs/") or ".." in name or "\0" in name:
        return ""
    common = _read_path(os.path.join(git_dir, "commondir"), git_dir) or git_dir
    for folder in (git_dir, common):
        commit = _as_commit(_read_line(os.path.join(folder, name)))
        if commit:
            return commit
    packed = read_plain_file(os.path.join(common, "packed-refs"), _LARGEST_REFERENCES) or b""
    for line in packed.split(b"\n"):
        commit_id, _, packed_name = line.partition(b" ")
        if packed_name == reference:
            return _as_commit(commit_id)
    return ""


def _read_line(file: str) -> bytes:
    return (read_plain_file(file, _LONGEST_PATH) or b"").strip()


def _as_commit(line: bytes) -> str:
    is_id = len(line) in (40, 64) and _COMMIT.issuperset(line)
    return line.decode("ascii") if is_id else ""
