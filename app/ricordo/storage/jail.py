"""A directory whose files may change, held open: whatever happens to its path meanwhile, nothing
outside it is touched.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ricordo.errors import ChangeRefused, WriteFailed
from ricordo.storage import system_calls as calls
from ricordo.text import visible


def why_unreachable(path: str) -> str:
    """Return why the directory at `path` cannot be opened; "" where it can."""
    try:
        HeldRoot(path).close()
    except OSError as error:
        return f"{visible(path)} cannot be opened: {error.strerror}."
    return ""


class HeldRoot:
    """An open directory beneath which files are read and changed."""

    def __init__(self, path: str, only: str = "") -> None:
        """Open the directory at `path`; with `only`, for the file of that name alone.

        Raises OSError.
        """
        self.path = path
        self._only = only
        self._handle = calls.open_directory(path)

    def close(self) -> None:
        """Let the directory go."""
        os.close(self._handle)

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode."""
        status = os.fstat(self._handle)
        return status.st_dev, status.st_ino

    def can_exchange(self) -> bool:
        """Say whether two names can change places here in one step; tried once a device."""
        device = os.fstat(self._handle).st_dev
        if device not in _exchanging:
            _exchanging[device] = _try_exchange(self._handle)
        return _exchanging[device]

    def remove_tries(self) -> None:
        """Take away what a process that was cut off while it tried to exchange has left."""
        _remove_tries(self._handle)

    @contextmanager
    def folder_of(self, path: str) -> Iterator[tuple[int, str]]:
        """Give the open folder in which `path` stands, and the name there.

        Raises ChangeRefused for a path that leads out and OSError where the folder is not there.
        """
        folder, _, name = path.rpartition("/")
        if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
            raise ChangeRefused(f"{visible(path)} is no file of {visible(self.path)}.")
        if self._only and path != self._only:
            raise ChangeRefused(f"Only {visible(self._only)} may be touched there.")
        try:
            handle = calls.open_folder(self._handle, folder)
        except OSError as error:
            if error.errno in (errno.EXDEV, errno.ELOOP, errno.ENOTDIR):
                raise ChangeRefused(f"{visible(path)} leads out of the memory.") from None
            raise
        try:
            yield handle, name
        finally:
            os.close(handle)

    def read(self, path: str) -> bytes | None:
        """Return what the file at `path` holds; None where none is called so.

        Raises ChangeRefused where something else than a plain file does, and OSError.
        """
        try:
            with self.folder_of(path) as (folder, name):
                handle = calls.open_file(folder, name)
                try:
                    is_there = calls.is_called(folder, name, handle)
                    return calls.read_all(handle) if is_there else None
                finally:
                    os.close(handle)
        except FileNotFoundError:
            return None
        except OSError as error:
            if calls.is_no_plain_file(error):
                raise ChangeRefused(f"{visible(path)} is no plain file.") from None
            raise

    def mode(self, path: str) -> int | None:
        """Return the permissions of the file at `path`; None where none is. Raises OSError."""
        with suppress(FileNotFoundError), self.folder_of(path) as (folder, name):
            return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        return None

    def check_writable(self, path: str) -> None:
        """Raise WriteFailed where the file at `path`, there or not, cannot be changed or made."""
        try:
            with self.folder_of(path) as (folder, name):
                _check_folder(folder, path)
                with suppress(FileNotFoundError):
                    handle = calls.open_file(folder, name)
                    try:
                        _check_file(folder, handle, path)
                    finally:
                        os.close(handle)
        except FileNotFoundError:
            raise WriteFailed(f"There is no folder for {visible(path)}.") from None
        except OSError as error:
            raise WriteFailed(f"{visible(path)} cannot be changed: {error.strerror}.") from None


def _check_folder(folder: int, path: str) -> None:
    if calls.is_frozen(folder):
        raise WriteFailed(f"{visible(path)} cannot be changed: its folder is marked immutable.")
    if not os.access(".", os.W_OK | os.X_OK, dir_fd=folder, effective_ids=_EFFECTIVE):
        raise WriteFailed(f"{visible(path)} cannot be changed: its folder is read-only.")


def _check_file(folder: int, handle: int, path: str) -> None:
    status, above = os.fstat(handle), os.fstat(folder)
    me = os.geteuid()
    reasons: list[tuple[Callable[[], bool], str]] = [
        (lambda: not status.st_mode & 0o222, "the file is read-only"),
        (lambda: calls.is_frozen(handle), "the file is marked immutable"),
        (lambda: me not in (0, status.st_uid), "the file belongs to somebody else"),
        (
            lambda: (
                bool(above.st_mode & stat.S_ISVTX) and me not in (0, status.st_uid, above.st_uid)
            ),
            "its folder lets only owners change files",
        ),
    ]
    for holds, reason in reasons:
        if holds():
            raise WriteFailed(f"{visible(path)} cannot be changed: {reason}.")


def _try_exchange(folder: int) -> bool:
    _remove_tries(folder)
    try:
        for name in _TRIES:
            os.close(calls.create_file(folder, name))
        calls.exchange(folder, *_TRIES)
    except calls.Unsupported:
        return False
    finally:
        # one that stays is taken away at the next try
        with suppress(OSError):
            _remove_tries(folder)
    return True


def _remove_tries(folder: int) -> None:
    for name in _TRIES:
        with suppress(FileNotFoundError):
            calls.unlink(folder, name)


_TRIES = (".ricordo-try-0", ".ricordo-try-1")
"""The same every time, so that those of a process that was killed are found without a search."""
_exchanging: dict[int, bool] = {}
_EFFECTIVE = os.access in os.supports_effective_ids
