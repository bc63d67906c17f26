"""A directory held open for writing: whatever happens to its path meanwhile, no file outside it is
changed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ricordo.errors import ChangeRefused, WriteFailed
from ricordo.storage import system_calls as calls
from ricordo.text import make_visible


def check_reachable(path: str) -> str:
    """Return why the directory at `path` cannot be opened; "" if it can."""
    try:
        OpenRoot(path).close()
    except OSError as error:
        return f"{make_visible(path)} cannot be opened: {error.strerror}."
    return ""


class OpenRoot:
    """An open directory beneath which files are read and changed."""

    def __init__(self, path: str, only: str = "") -> None:
        """Open the directory at `path`; with `only`, for that one file name. Raises OSError."""
        self.path = path
        self._only = only
        self._handle = calls.open_directory(path)

    def close(self) -> None:
        """Close the directory."""
        os.close(self._handle)

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode."""
        status = os.fstat(self._handle)
        return status.st_dev, status.st_ino

    def can_exchange(self) -> bool:
        """Return whether two names can be exchanged atomically here; tested once per device."""
        device = os.fstat(self._handle).st_dev
        if device not in _exchanging:
            _exchanging[device] = _try_exchange(self._handle)
        return _exchanging[device]

    def remove_test_files(self) -> None:
        """Remove the test files of a process that was killed during the exchange test."""
        _remove_tries(self._handle)

    @contextmanager
    def open_folder(self, path: str) -> Iterator[tuple[int, str]]:
        """Open the folder of `path`; yield its handle, and the name in it.

        Raises ChangeRefused for a path outside, and OSError if the folder does not exist.
        """
        folder, _, name = path.rpartition("/")
        if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
            raise ChangeRefused(f"{make_visible(path)} is not a file in {make_visible(self.path)}.")
        if self._only and path != self._only:
            raise ChangeRefused(f"Only {make_visible(self._only)} may be changed there.")
        try:
            handle = calls.open_folder(self._handle, folder)
        except OSError as error:
            if error.errno in (errno.EXDEV, errno.ELOOP, errno.ENOTDIR):
                raise ChangeRefused(f"{make_visible(path)} is outside the memory.") from None
            raise
        try:
            yield handle, name
        finally:
            os.close(handle)

    def read(self, path: str) -> bytes | None:
        """Return the content of the file at `path`; None if none has exactly that name.

        Raises ChangeRefused if it is not a regular file, and OSError.
        """
        try:
            with self.open_folder(path) as (folder, name):
                handle = calls.open_file(folder, name)
                try:
                    is_there = calls.has_exact_name(folder, name, handle)
                    return calls.read_all(handle) if is_there else None
                finally:
                    os.close(handle)
        except FileNotFoundError:
            return None
        except OSError as error:
            if calls.is_not_regular_error(error):
                raise ChangeRefused(f"{make_visible(path)} is not a regular file.") from None
            raise

    def read_mode(self, path: str) -> int | None:
        """Return the permissions of the file at `path`; None if it is missing. Raises OSError."""
        with suppress(FileNotFoundError), self.open_folder(path) as (folder, name):
            return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        return None

    def read_modified(self, path: str) -> int | None:
        """Return when the file at `path` was written, in nanoseconds since 1970; None if it is
        missing. Raises OSError.
        """
        with suppress(FileNotFoundError), self.open_folder(path) as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns
        return None

    def check_writable(self, path: str) -> None:
        """Raise WriteFailed if the file at `path` cannot be changed or created."""
        try:
            with self.open_folder(path) as (folder, name):
                _check_folder(folder, path)
                with suppress(FileNotFoundError):
                    handle = calls.open_file(folder, name)
                    try:
                        _check_file(folder, handle, path)
                    finally:
                        os.close(handle)
        except FileNotFoundError:
            raise WriteFailed(f"No folder for {make_visible(path)}.") from None
        except OSError as error:
            raise WriteFailed(
                f"{make_visible(path)} cannot be changed: {error.strerror}."
            ) from None


def _check_folder(folder: int, path: str) -> None:
    if calls.is_immutable(folder):
        raise WriteFailed(
            f"{make_visible(path)} cannot be changed: its folder is marked immutable."
        )
    if not os.access(".", os.W_OK | os.X_OK, dir_fd=folder, effective_ids=_EFFECTIVE):
        raise WriteFailed(f"{make_visible(path)} cannot be changed: its folder is read-only.")


def _check_file(folder: int, handle: int, path: str) -> None:
    status, above = os.fstat(handle), os.fstat(folder)
    me = os.geteuid()
    reasons: list[tuple[Callable[[], bool], str]] = [
        (lambda: not status.st_mode & 0o222, "the file is read-only"),
        (lambda: calls.is_immutable(handle), "the file is marked immutable"),
        (lambda: me not in (0, status.st_uid), "the file belongs to another user"),
        (
            lambda: (
                bool(above.st_mode & stat.S_ISVTX) and me not in (0, status.st_uid, above.st_uid)
            ),
            "only owners may change files in its folder",
        ),
    ]
    for applies, reason in reasons:
        if applies():
            raise WriteFailed(f"{make_visible(path)} cannot be changed: {reason}.")


def _try_exchange(folder: int) -> bool:
    _remove_tries(folder)
    try:
        for name in _TRIES:
            os.close(calls.create_file(folder, name))
        calls.exchange(folder, *_TRIES)
    except calls.UnsupportedError:
        return False
    finally:
        # a file that stays is removed by the next test
        with suppress(OSError):
            _remove_tries(folder)
    return True


def _remove_tries(folder: int) -> None:
    for name in _TRIES:
        with suppress(FileNotFoundError):
            calls.unlink(folder, name)


_TRIES = (".ricordo-try-0", ".ricordo-try-1")
"""Fixed names, so that those of a killed process are found without a search."""
_exchanging: dict[int, bool] = {}
_EFFECTIVE = os.access in os.supports_effective_ids
