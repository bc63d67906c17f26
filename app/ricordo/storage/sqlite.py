"""Which errors of SQLite are the file's own."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

from ricordo.storage.state_file import open_database_to_read

_PASSING = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_NOMEM,
    )
)


def is_busy(error: Exception) -> bool:
    """Say whether `error` means no more than that another process writes."""
    code = getattr(error, "sqlite_errorcode", -1) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_passing(error: Exception) -> bool:
    """Say whether `error` tells nothing against the file: it is in use, the disk is full, or there
    is no permission.
    """
    return getattr(error, "sqlite_errorcode", -1) & 0xFF in _PASSING


def is_read_only(path: str) -> bool:
    """Say whether the file at `path` is there and SQLite could not change it: that takes a
    directory in which it can make its journal.
    """
    folder = os.path.dirname(path)
    is_there = os.path.exists(path)
    return is_there and not (os.access(path, os.W_OK) and os.access(folder, os.W_OK | os.X_OK))


def open_read_only(path: str) -> sqlite3.Connection:
    """Return a connection to the SQLite file at `path` that changes nothing. Raises sqlite3.Error
    and OSError.

    A file with a write-ahead log needs its index beside it, which nobody can make here. Where no
    log is left either, the file is whole as it is.
    """
    try:
        return _asked(open_database_to_read(path))
    except sqlite3.OperationalError:
        if _size(f"{path}-wal"):
            raise
        return _asked(open_database_to_read(path, immutable=True))


def _asked(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except BaseException:
        connection.close()
        raise
    return connection


def _size(path: str) -> int:
    with suppress(OSError):
        return os.path.getsize(path)
    return 0
