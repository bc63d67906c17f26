"""Files of our state that can be read and not written: a directory of another user, a disk that is
mounted read-only, a backup.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

from ricordo.disk.state_file import open_database_to_read


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
