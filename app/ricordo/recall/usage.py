"""What notes were used for: given to agents, opened and confirmed by the person; and what was
looked for in vain. One SQLite file in our state directory. Standard library alone.

Use never makes a note better found. Among notes that answer equally well, those come first that the
*person* opened or confirmed; what agents were given is not counted for that, for it is our own
ranking that gave it, and a ranking that feeds on itself makes the found more found.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress

from ricordo.recall.catalogue import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

FILE = "usage.db"
GIVEN, OPENED, CONFIRMED = "given", "opened", "confirmed"
"""Kinds of use: by an agent, and two by the person."""
MOST_GAPS = 500
MOST_GIVEN = 20_000
"""Rows that are kept, the newest."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS used (
    memory TEXT, path BLOB, kind TEXT, times INTEGER NOT NULL, last TEXT NOT NULL,
    PRIMARY KEY (memory, path, kind)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS given (
    n INTEGER PRIMARY KEY, session TEXT NOT NULL, memory TEXT NOT NULL, path BLOB NOT NULL,
    UNIQUE (session, memory, path)
);
CREATE TABLE IF NOT EXISTS gap (
    n INTEGER PRIMARY KEY, memory TEXT NOT NULL, words TEXT NOT NULL, last TEXT NOT NULL,
    UNIQUE (memory, words)
);
"""
_NOW = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"


class Usage:
    """The use of the notes of one memory. What cannot be read counts as nothing used."""

    def __init__(self, state: str, root: str) -> None:
        """`root` is the memory's directory. Nothing is touched."""
        self._path = os.path.join(state, FOLDER, FILE)
        self._root = root.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def given(self, session: str) -> frozenset[bytes]:
        """Return the paths of the notes that an agent was given in this session."""
        sql = "SELECT path FROM given WHERE session = ? AND memory = ?"
        return (
            frozenset(row[0] for row in self._rows(sql, session, self._root))
            if session
            else (frozenset())
        )

    def give(self, session: str, paths: Iterable[bytes]) -> None:
        """Keep that an agent was given the notes at `paths`. Raises sqlite3.Error."""
        with closing(self._connected()) as connection, connection:
            for path in paths:
                _use(connection, self._root, path, GIVEN)
                if session:
                    connection.execute(
                        "INSERT OR IGNORE INTO given (session, memory, path) VALUES (?, ?, ?)",
                        (session, self._root, path),
                    )
            newest = "SELECT max(n) FROM given"
            connection.execute(f"DELETE FROM given WHERE n <= ({newest}) - ?", (MOST_GIVEN,))

    def use(self, path: bytes, kind: str) -> None:
        """Keep that the person opened or confirmed the note at `path`. Raises sqlite3.Error."""
        with closing(self._connected()) as connection, connection:
            _use(connection, self._root, path, kind)

    def by_person(self) -> Mapping[bytes, int]:
        """Return how often the person opened or confirmed each note."""
        sql = "SELECT path, sum(times) FROM used WHERE memory = ? AND kind <> ? GROUP BY path"
        return dict(self._rows(sql, self._root, GIVEN))

    def report(self) -> list[tuple[bytes, str, int, str]]:
        """Return path, kind, times and last time (ISO 8601) of every use, newest first."""
        sql = "SELECT path, kind, times, last FROM used WHERE memory = ? ORDER BY last DESC, path"
        return list(self._rows(sql, self._root))

    def missed(self, words: str) -> None:
        """Keep a gap: the `words` for which nothing was found. Raises sqlite3.Error."""
        with closing(self._connected()) as connection, connection:
            connection.execute(
                f"INSERT INTO gap (memory, words, last) VALUES (?, ?, {_NOW}) "
                "ON CONFLICT (memory, words) DO UPDATE SET last = excluded.last",
                (self._root, words),
            )
            newest = "SELECT max(n) FROM gap"
            connection.execute(f"DELETE FROM gap WHERE n <= ({newest}) - ?", (MOST_GAPS,))

    def gaps(self) -> list[tuple[str, str]]:
        """Return the gaps with the last time (ISO 8601) at which each came up, newest first."""
        sql = "SELECT words, last FROM gap WHERE memory = ? ORDER BY last DESC, n DESC"
        return list(self._rows(sql, self._root))

    def drop_gap(self, words: str) -> None:
        """Forget a gap. Raises sqlite3.Error."""
        with closing(self._connected()) as connection, connection:
            connection.execute(
                "DELETE FROM gap WHERE memory = ? AND words = ?", (self._root, words)
            )

    def _rows(self, sql: str, *values: str) -> Iterator[Any]:
        with suppress(sqlite3.Error):
            if os.path.exists(self._path):
                with closing(self._connected()) as connection:
                    yield from connection.execute(sql, values).fetchall()

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=0.1)
        try:
            if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                connection.executescript(_SCHEMA + "PRAGMA user_version = 1;")
            # an agent waits: what a crash of the machine costs here is little
            connection.execute("PRAGMA synchronous = OFF")
        except BaseException:
            connection.close()
            raise
        return connection


def _use(connection: sqlite3.Connection, root: str, path: bytes, kind: str) -> None:
    connection.execute(
        f"INSERT INTO used VALUES (?, ?, ?, 1, {_NOW}) ON CONFLICT (memory, path, kind) "
        "DO UPDATE SET times = times + 1, last = excluded.last",
        (root, path, kind),
    )
