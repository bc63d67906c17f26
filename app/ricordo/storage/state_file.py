"""Files of our own state directory: opened only where they are regular files, for this user alone,
replaced whole and never torn.

Every other module opens them through this one, but for small ones that are read whole
(`plain_file`). The prompt hook does too: nothing is imported here
that it has not loaded anyway.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from errno import EINVAL, ENOTDIR

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

FOLDERS = ("recall", "projects", "compared", "curation")
"""The folders of the state directory that hold such files."""
_BESIDE = ("-journal", "-wal", "-shm")
"""What SQLite keeps beside a database."""
_PRIVATE = 0o600
_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class NotRegular(OSError):
    """Something other than a regular file is where a state file should be."""

    def __init__(self, path: str) -> None:
        super().__init__(EINVAL, "not a regular file", path)


def make_private_directory(path: str) -> None:
    """Make the directory `path` and what is missing above it, for this user only: the mode that is
    given to `os.makedirs` is that of the last one alone. Raises OSError.
    """
    if not os.path.isdir(path):
        above = os.path.dirname(path)
        if above != path:
            make_private_directory(above)
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        if not os.path.isdir(path):
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), path)


def refuse_irregular(state: str) -> None:
    """Refuse a state directory in which something other than a file or a directory lies: a pipe, a
    socket, a device, or a link to such. Raises StateUnusable.
    """
    for folder in (state, *(os.path.join(state, name) for name in FOLDERS)):
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
            for entry in entries:
                # a link that leads nowhere is as good as no file
                if not (entry.is_file() or entry.is_dir()) and os.path.exists(entry.path):
                    _refuse(entry.path)


def _refuse(path: str) -> None:
    from ricordo.errors import StateUnusable
    from ricordo.text import visible

    raise StateUnusable(
        f"{visible(path)} is not a regular file, so it is not opened: move it away, Ricordo makes "
        "a new file where it needs one."
    )


def open_state_file(path: str, flags: int) -> int:
    """Return a descriptor of the regular file at `path`, opened with `flags`; a file that they
    create is for this user only. Never blocks, never follows a link. Raises OSError.
    """
    handle = os.open(path, flags | _FLAGS, _PRIVATE)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotRegular(path)
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
    """Return a connection to the SQLite file at `path`, which is made where it is missing and is
    for this user only; with `autocommit` no transaction begins by itself. Raises sqlite3.Error and
    OSError.
    """
    import sqlite3

    _check_database(path)
    with suppress(FileExistsError):
        # never opened where it is there: closing it would end the locks that SQLite has on it
        os.close(open_state_file(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    with suppress(OSError):
        # an earlier version left some of them readable for others
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
    """Return a connection to the SQLite file at `path` that changes nothing; with `immutable` one
    that takes the file for whole without a look at its log. Raises sqlite3.Error and OSError.
    """
    import sqlite3

    _check_database(path)
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    address = f"file:{quoted}?mode=ro{'&immutable=1' * immutable}"
    return sqlite3.connect(address, timeout=timeout, uri=True)


def _check_database(path: str) -> None:
    """Raise NotRegular where SQLite would open something other than regular files."""
    for ending in ("", *_BESIDE):
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(path + ending).st_mode):
                raise NotRegular(path + ending)


def make_state_file(state: str, name: str) -> None:
    """Make the file `name` in the directory `state`, and that, where they are missing; both for
    this user only. Raises OSError.
    """
    make_private_directory(state)
    with suppress(FileExistsError):
        os.close(open_state_file(os.path.join(state, name), os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def replace_state_file(state: str, name: str, content: bytes) -> None:
    """Write `content` to the file `name` of the directory `state`, which is made where it is
    missing; both for this user only. Raises OSError.
    """
    from tempfile import NamedTemporaryFile

    make_private_directory(state)
    with NamedTemporaryFile(dir=state, prefix=f".{name}.", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, os.path.join(state, name))
        except BaseException:
            os.unlink(file.name)
            raise
