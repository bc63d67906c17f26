"""Tell damage of a SQLite file from transient errors, and open files read-only."""

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
    """Return whether `error` means that another process is writing."""
    code = getattr(error, "sqlite_errorcode", -1) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_transient(error: Exception) -> bool:
    """Return whether `error` is no sign of damage: the file is in use, the disk is full, or
    permission is missing.
    """
    return getattr(error, "sqlite_errorcode", -1) & 0xFF in _PASSING


def is_read_only(path: str) -> bool:
    """Return whether the file at `path` exists and SQLite cannot change it, which also needs a
    writable directory for its journal.
    """
    folder = os.path.dirname(path)
    exists = os.path.exists(path)
    return exists and not (os.access(path, os.W_OK) and os.access(folder, os.W_OK | os.X_OK))


def open_read_only(path: str) -> sqlite3.Connection:
    """Return a read-only connection to the SQLite file at `path`. Raises sqlite3.Error and OSError.

    A write-ahead log needs an index file, which cannot be created without write permission. If the
    log is empty or missing, the file is complete and is opened as immutable.
    """
    try:
        return _test_connection(open_database_to_read(path))
    except sqlite3.OperationalError:
        if _size(f"{path}-wal"):
            raise
        return _test_connection(open_database_to_read(path, immutable=True))


def _test_connection(connection: sqlite3.Connection) -> sqlite3.Connection:
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
