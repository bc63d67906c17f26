"""Files of the state directory: opened only if they are regular files, readable for this user only,
and replaced atomically.

All modules open them through this one, except small files that are read whole (`foreign_file`). The
prompt hook uses it too, so it imports only modules that the hook loads anyway.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from errno import EINVAL, ENOTDIR

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

FOLDERS = ("recall", "projects", "compared", "judged", "curation", "hook")
"""The subfolders of the state directory with such files."""
_SUFFIXES = ("-journal", "-wal", "-shm")
"""The suffixes of SQLite's extra files."""
_PRIVATE = 0o600
_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class NotRegularError(OSError):
    """A state file is not a regular file."""

    def __init__(self, path: str) -> None:
        super().__init__(EINVAL, "not a regular file", path)


def create_private_directory(path: str) -> list[str]:
    """Create the directory `path` and missing ones above it, all for this user only: `os.makedirs`
    would apply the mode to the last one only. Return those that were created. Raises OSError.
    """
    created: list[str] = []
    if not os.path.isdir(path):
        above = os.path.dirname(path)
        if above != path:
            created += create_private_directory(above)
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
            created.append(path)
        if not os.path.isdir(path):
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), path)
    return created


def check_regular_files(state: str) -> None:
    """Raise StateUnusable if the state directory contains a pipe, a socket, a device, or a link to
    one.
    """
    for folder in (state, *(os.path.join(state, name) for name in FOLDERS)):
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
            for entry in entries:
                # a broken link counts as no file
                if not (entry.is_file() or entry.is_dir()) and os.path.exists(entry.path):
                    _refuse(entry.path)


def _refuse(path: str) -> None:
    from ricordo.errors import StateUnusable
    from ricordo.text import make_visible

    raise StateUnusable(
        f"{make_visible(path)} is not a regular file.",
        hint="Move it away; Ricordo creates a new file if it needs one.",
    )


def open_state_file(path: str, flags: int) -> int:
    """Return a descriptor of the regular file at `path`, opened with `flags`; a new file is for
    this user only. Never blocks, never follows a link. Raises OSError.
    """
    handle = os.open(path, flags | _FLAGS, _PRIVATE)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotRegularError(path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def open_database(
    path: str,
    *,
    timeout: float,
    autocommit: bool = False,
    check_same_thread: bool = True,
) -> sqlite3.Connection:
    """Return a connection to the SQLite file at `path`, created if missing, for this user only;
    with `autocommit` no transaction begins implicitly. Raises sqlite3.Error and OSError.
    """
    import sqlite3

    _check_database(path)
    with suppress(FileExistsError):
        # never open an existing file here: closing it would release SQLite's locks on it
        os.close(open_state_file(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    with suppress(OSError):
        # an earlier version created some of them readable for others
        if stat.S_IMODE(os.stat(path).st_mode) & ~_PRIVATE:
            os.chmod(path, _PRIVATE)
    return sqlite3.connect(
        path,
        timeout=timeout,
        isolation_level=None if autocommit else "DEFERRED",
        check_same_thread=check_same_thread,
    )


def open_database_to_read(
    path: str, *, timeout: float = 5.0, immutable: bool = False
) -> sqlite3.Connection:
    """Return a read-only connection to the SQLite file at `path`; with `immutable`, SQLite ignores
    its log. Raises sqlite3.Error and OSError.
    """
    import sqlite3

    _check_database(path)
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    address = f"file:{quoted}?mode=ro{'&immutable=1' * immutable}"
    return sqlite3.connect(address, timeout=timeout, uri=True)


def _check_database(path: str) -> None:
    """Raise NotRegularError if SQLite would open something other than regular files."""
    for suffix in ("", *_SUFFIXES):
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(path + suffix).st_mode):
                raise NotRegularError(path + suffix)


def create_state_file(state: str, name: str) -> None:
    """Create the file `name` in the directory `state`, and the directory, if missing; both for this
    user only. Raises OSError.
    """
    create_private_directory(state)
    with suppress(FileExistsError):
        os.close(open_state_file(os.path.join(state, name), os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def replace_state_file(state: str, name: str, content: bytes, *, is_synced: bool = True) -> None:
    """Replace the file `name` of the directory `state` atomically by `content`; the directory is
    created if missing; both for this user only. After a crash of the machine a file that is not
    `is_synced` may be empty, as only caches may be. Raises OSError.
    """
    create_private_directory(state)
    replace_file(state, name, content, is_synced=is_synced)


def replace_file(
    folder: str, name: str, content: bytes, *, mode: int = _PRIVATE, is_synced: bool = True
) -> None:
    """Replace the file `name` in `folder` atomically by `content`. Raises OSError."""
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile(dir=folder, prefix=f".{name}.", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            if mode != _PRIVATE:
                os.fchmod(file.fileno(), mode)
            if is_synced:
                os.fsync(file.fileno())
            os.replace(file.name, os.path.join(folder, name))
        except BaseException:
            os.unlink(file.name)
            raise
