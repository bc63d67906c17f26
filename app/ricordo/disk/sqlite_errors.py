"""Which errors of SQLite are the file's own."""

from __future__ import annotations

import sqlite3

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
