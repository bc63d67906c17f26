"""What stands at a path beneath a directory now, by its content: looked at, never followed out of
the directory, never run and never changed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from ricordo.storage import system_calls as calls

LARGEST = 64 * 1024 * 1024
"""Bytes of a file that is looked at."""
_PIECE = 1 << 20
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


@dataclass(frozen=True, slots=True)
class FileNow:
    """A plain file."""

    sha: str
    """SHA-256 of its content, in hexadecimal."""
    size: int
    modified: float
    """Seconds since 1970."""


class Gone(Enum):
    """Nothing of that name is there."""

    GONE = auto()


class Unseen(StrEnum):
    """Why it cannot be told what is there."""

    OUTSIDE = "leads out of the folder"
    LINK = "is a link, or lies behind one"
    NO_FILE = "is no plain file"
    TOO_LARGE = f"is larger than {LARGEST // 1024**2} MB"
    UNREADABLE = "cannot be read"
    TOO_MUCH = "is one too many to look at"


Look = FileNow | Gone | Unseen
"""What a look at a path tells."""


def look_at(
    root: str,
    path: str,
    step: Callable[[], None] = lambda: None,
    content: bytearray | None = None,
) -> Look:
    """Return what stands at `path`, with `/`, beneath the directory `root`. `step` is called at
    every megabyte; what it raises is raised here. What was read is added to `content`.
    """
    if not _is_inside(path):
        return Unseen.OUTSIDE
    folder, _, name = path.rpartition("/")
    root = os.path.realpath(root)
    try:
        top = calls.open_directory(root)
    except OSError:
        return Unseen.UNREADABLE
    try:
        handle = calls.open_folder(top, folder)
        try:
            return _named(handle, name, step, content)
        finally:
            os.close(handle)
    except OSError as error:
        return Unseen.LINK if _lies_behind_link(root, folder) else _why(error)
    finally:
        os.close(top)


def is_folder(path: str) -> bool:
    """Say whether a directory, and no link to one, stands at `path`."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def modified_at(root: str, path: str) -> float | None:
    """Return when what stands at `path` beneath `root`, "" for itself, was changed last, in seconds
    since 1970; None where nothing does, or it cannot be told.
    """
    try:
        status = os.lstat(os.path.join(root, path)) if not path or _is_inside(path) else None
    except OSError:
        return None
    return status.st_mtime if status else None


def _is_inside(path: str) -> bool:
    if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        return False
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _lies_behind_link(root: str, folder: str) -> bool:
    """Whether a folder cannot be reached but through a link: systems call that by various names."""
    at = root
    for name in filter(None, folder.split("/")):
        at = os.path.join(at, name)
        if os.path.islink(at):
            return True
    return False


def _why(error: OSError) -> Look:
    """What it means that a folder or a file could not be opened."""
    return Gone.GONE if error.errno in _MISSING else Unseen.UNREADABLE


def _named(folder: int, name: str, step: Callable[[], None], content: bytearray | None) -> Look:
    """Look first and open then: to open a device may set something off."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return Unseen.LINK
    if not stat.S_ISREG(mode):
        return Unseen.NO_FILE
    handle = calls.open_file(folder, name)
    try:
        is_there = calls.is_called(folder, name, handle)
        return _read(handle, step, content) if is_there else Gone.GONE
    finally:
        os.close(handle)


def _read(handle: int, step: Callable[[], None], content: bytearray | None) -> Look:
    status = os.fstat(handle)
    if status.st_size > LARGEST:
        return Unseen.TOO_LARGE
    found, size = hashlib.sha256(), 0
    while part := os.read(handle, _PIECE):
        step()
        size += len(part)
        # it may grow while it is read
        if size > LARGEST:
            return Unseen.TOO_LARGE
        found.update(part)
        if content is not None:
            content += part
    return FileNow(found.hexdigest(), size, status.st_mtime)
