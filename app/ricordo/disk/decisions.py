"""What the person decided of findings, kept in the history database outside every memory.

One database serves all memories. A memory has a random id and is known again by its path, or by
device and inode where it was moved. Decisions are only ever added: taking one back is a decision
too, so that it can be told who decided what, and when.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ricordo.errors import StateUnusable
from ricordo.text import visible

DATABASE = "history.db"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS memory (
    id TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS decision (
    n INTEGER PRIMARY KEY,
    memory TEXT NOT NULL REFERENCES memory (id),
    at TEXT NOT NULL,
    act TEXT NOT NULL,
    subject TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS decision_by_subject ON decision (memory, subject, n);
"""


@dataclass(frozen=True, slots=True)
class Dismissal:
    """The person said of a finding: this is fine."""

    finding_id: str
    at: str
    """ISO 8601, with time zone."""
    reason: str


class Decisions:
    """The decisions kept in one state directory, for one memory."""

    def __init__(self, state: str, root: str) -> None:
        """`state` is our state directory, `root` the memory's; neither is touched before use."""
        self._state = state
        self._root = root

    def dismissed(self) -> dict[str, Dismissal]:
        """Return what is dismissed now, by finding id; nothing where no state exists yet."""
        if not os.path.exists(os.path.join(self._state, DATABASE)):
            return {}
        with self._opened() as database:
            memory = self._memory(database)
            rows = database.execute(
                "SELECT subject, at, act, reason FROM decision WHERE memory = ? ORDER BY n",
                (memory,),
            ).fetchall()
        latest = {subject: (at, act, reason) for subject, at, act, reason in rows}
        return {
            subject: Dismissal(subject, at, reason)
            for subject, (at, act, reason) in latest.items()
            if act == "dismiss"
        }

    def dismiss(self, finding_id: str, at: str, reason: str = "") -> None:
        """Keep that the finding is fine. Raises StateUnusable where it cannot be kept."""
        self._decide("dismiss", finding_id, at, reason)

    def take_back(self, finding_id: str, at: str) -> None:
        """Keep that the finding stands again. Raises StateUnusable where it cannot be kept."""
        self._decide("take back", finding_id, at, "")

    def _decide(self, act: str, subject: str, at: str, reason: str) -> None:
        with self._opened() as database:
            database.execute(
                "INSERT INTO decision (memory, at, act, subject, reason) VALUES (?, ?, ?, ?, ?)",
                (self._memory(database), at, act, subject, reason),
            )

    def _memory(self, database: sqlite3.Connection) -> str:
        """Return the id of this memory, giving it one at first sight."""
        row = database.execute("SELECT id FROM memory WHERE path = ?", (self._root,)).fetchone()
        if row:
            return str(row[0])
        status = os.stat(self._root)
        moved = database.execute(
            "SELECT id, path FROM memory WHERE device = ? AND inode = ?",
            (status.st_dev, status.st_ino),
        ).fetchone()
        if moved and not os.path.exists(moved[1]):
            database.execute("UPDATE memory SET path = ? WHERE id = ?", (self._root, moved[0]))
            return str(moved[0])
        new = secrets.token_hex(8)
        database.execute(
            "INSERT INTO memory (id, path, device, inode) VALUES (?, ?, ?, ?)",
            (new, self._root, status.st_dev, status.st_ino),
        )
        return new

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        path = os.path.join(self._state, DATABASE)
        try:
            os.makedirs(self._state, mode=0o700, exist_ok=True)
            if not os.path.exists(path):
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            database = sqlite3.connect(path, timeout=5.0)
        except (OSError, sqlite3.Error) as error:
            raise _unusable(path, error) from None
        try:
            with database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = FULL")
                database.executescript(_SCHEMA)
                yield database
        except (OSError, sqlite3.Error) as error:
            raise _unusable(path, error) from None
        finally:
            database.close()


def _unusable(path: str, error: Exception) -> StateUnusable:
    return StateUnusable(f"The history at {visible(path)} cannot be used: {error}.")
