"""Removing a value from every version in the history, so that no byte of it stays in the file."""

from __future__ import annotations

import sqlite3
import zlib
from dataclasses import dataclass

from ricordo.disk.database import Database, transaction
from ricordo.disk.history import History
from ricordo.disk.lock import state_lock

MASK = b"\xe2\x96\x88" * 8
"""What stands in the place of the value from then on: full blocks."""


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge removed."""

    contents: int
    """Kept contents that held the value."""
    told: int
    """Reasons and subjects that held it."""


def purge(database: Database, value: str) -> Purged:
    """Replace `value` by a mask in every kept content and reason, and overwrite what held it.

    Versions keep their place in the history, only the value is gone from them. Raises
    StateUnusable and Busy.
    """
    if not database.exists:
        return Purged(0, 0)
    with state_lock(database.state), database.opened() as connection:
        connection.execute("PRAGMA secure_delete = ON")
        with transaction(connection):
            contents = _purge_contents(connection, value.encode("utf-8", "surrogateescape"))
            told = _purge_acts(connection, value)
        if contents or told:
            connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Purged(contents, told)


def _purge_contents(connection: sqlite3.Connection, value: bytes) -> int:
    history = History(connection)
    holding = [
        (sha, content)
        for sha, data in connection.execute("SELECT sha, data FROM blob")
        if value in (content := zlib.decompress(data))
    ]
    for sha, content in holding:
        masked = history.keep(content.replace(value, MASK))
        for table, column in (("op", "pre"), ("op", "post"), ("head", "sha")):
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (masked, sha))
        connection.execute("DELETE FROM blob WHERE sha = ?", (sha,))
    return len(holding)


def _purge_acts(connection: sqlite3.Connection, value: str) -> int:
    changed = 0
    for column in ("reason", "subject"):
        cursor = connection.execute(
            f"UPDATE act SET {column} = replace({column}, ?, ?) WHERE instr({column}, ?)",
            (value, MASK.decode(), value),
        )
        changed += cursor.rowcount
    return changed
