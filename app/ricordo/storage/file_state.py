"""The current state of a file beneath a directory: read without following links out of the
directory, never run and never changed.
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
"""Bytes; larger files are not read."""
_PIECE = 1 << 20
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


@dataclass(frozen=True, slots=True)
class FileState:
    """A regular file."""

    sha: str
    """SHA-256 of its content, in hexadecimal."""
    size: int
    modified: float
    """Seconds since 1970."""


class MissingFile(Enum):
    """No file has that name."""

    GONE = auto()


class UncheckedFile(StrEnum):
    """Why the state of a path is unknown."""

    OUTSIDE = "is outside the folder"
    LINK = "is a link, or behind one"
    NOT_REGULAR = "is not a regular file"
    TOO_LARGE = f"is larger than {LARGEST // 1024**2} MB"
    UNREADABLE = "cannot be read"
    TOO_MANY = "was not checked: too many files"


FileStatus = FileState | MissingFile | UncheckedFile
"""The state of a path."""


def check_file(
    root: str,
    path: str,
    step: Callable[[], None] = lambda: None,
    content: bytearray | None = None,
) -> FileStatus:
    """Return the state of `path`, with `/`, beneath the directory `root`. `step` is called after
    every megabyte; its exceptions pass through. The bytes read are appended to `content`.
    """
    if not _is_inside(path):
        return UncheckedFile.OUTSIDE
    folder, _, name = path.rpartition("/")
    root = os.path.realpath(root)
    try:
        top = calls.open_directory(root)
    except OSError:
        return UncheckedFile.UNREADABLE
    try:
        handle = calls.open_folder(top, folder)
        try:
            return _check_name(handle, name, step, content)
        finally:
            os.close(handle)
    except OSError as error:
        return UncheckedFile.LINK if _is_behind_link(root, folder) else _from_error(error)
    finally:
        os.close(top)


def is_folder(path: str) -> bool:
    """Return whether `path` is a directory, and not a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_modified(root: str, path: str) -> float | None:
    """Return the modification time of `path` beneath `root`, "" for `root` itself, in seconds since
    1970; None if it does not exist or cannot be read.
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


def _is_behind_link(root: str, folder: str) -> bool:
    """Return whether the path of a folder contains a link; the error for that varies by system."""
    at = root
    for name in filter(None, folder.split("/")):
        at = os.path.join(at, name)
        if os.path.islink(at):
            return True
    return False


def _from_error(error: OSError) -> FileStatus:
    """Return the state of a path that could not be opened."""
    return MissingFile.GONE if error.errno in _MISSING else UncheckedFile.UNREADABLE


def _check_name(
    folder: int, name: str, step: Callable[[], None], content: bytearray | None
) -> FileStatus:
    """Return the state of a name; opens only regular files, as opening a device may trigger it."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return UncheckedFile.LINK
    if not stat.S_ISREG(mode):
        return UncheckedFile.NOT_REGULAR
    handle = calls.open_file(folder, name)
    try:
        is_there = calls.has_exact_name(folder, name, handle)
        return _read(handle, step, content) if is_there else MissingFile.GONE
    finally:
        os.close(handle)


def _read(handle: int, step: Callable[[], None], content: bytearray | None) -> FileStatus:
    status = os.fstat(handle)
    if status.st_size > LARGEST:
        return UncheckedFile.TOO_LARGE
    sha, size = hashlib.sha256(), 0
    while part := os.read(handle, _PIECE):
        step()
        size += len(part)
        # it may grow while it is read
        if size > LARGEST:
            return UncheckedFile.TOO_LARGE
        sha.update(part)
        if content is not None:
            content += part
    return FileState(sha.hexdigest(), size, status.st_mtime)
