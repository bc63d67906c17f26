"""The usage of notes: given to agents, opened and confirmed by the user; and searches without
results. One SQLite file in the state directory. Standard library only.

A file that is damaged, or from a newer Ricordo, is moved aside and a new one is created: past usage
is worth little, future usage is recorded. The hook repairs nothing and leaves this to the notebook.

Usage does not raise a note's score. Only ties are broken in favour of notes that the *user* opened
or confirmed. Notes given to agents do not count, because Ricordo's own ranking chose them, and a
ranking that feeds on itself amplifies its choices.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

from ricordo.search.reader import FOLDER
from ricordo.storage.state_file import open_database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar

    Answer = TypeVar("Answer")

FILE = "usage.db"
GIVEN, OPENED, CONFIRMED = "given", "opened", "confirmed"
"""Kinds of usage: by an agent, and two by the user."""
MAX_MISSES = 500
MOST_GIVEN = MOST_TOGETHER = 20_000
"""Newest rows that are kept: those of thousands of sessions, in a file of a few megabytes."""
VERSION = 2
"""The schema version; a later one may add tables."""
SHORT_PATIENCE = 0.1
"""Seconds that an agent waits for another process that writes."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS used (
    memory TEXT, path BLOB, kind TEXT, times INTEGER NOT NULL, last TEXT NOT NULL,
    PRIMARY KEY (memory, path, kind)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS given (
    n INTEGER PRIMARY KEY, session TEXT NOT NULL, memory TEXT NOT NULL, path BLOB NOT NULL,
    UNIQUE (session, memory, path)
);
CREATE TABLE IF NOT EXISTS together (
    n INTEGER PRIMARY KEY, memory TEXT NOT NULL, one BLOB NOT NULL, other BLOB NOT NULL,
    UNIQUE (memory, one, other)
);
CREATE TABLE IF NOT EXISTS gap (
    n INTEGER PRIMARY KEY, memory TEXT NOT NULL, words TEXT NOT NULL, last TEXT NOT NULL,
    UNIQUE (memory, words)
);
"""
_SPENT = """
CREATE TABLE IF NOT EXISTS spent (
    n INTEGER PRIMARY KEY, session TEXT NOT NULL UNIQUE, room REAL NOT NULL
)
"""
"""No part of a version: an older Ricordo works on beside it."""
_TEXTS = {
    "used": ("memory", "path"),
    "given": ("session", "memory", "path"),
    "spent": ("session",),
    "together": ("memory", "one", "other"),
    "gap": ("memory", "words"),
}
"""Columns with texts that may contain a purged value."""
_NOW = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"


class UsageStore:
    """The usage of one memory's notes. A file that cannot be read counts as empty."""

    def __init__(
        self,
        state: str,
        root: str,
        patience: float = SHORT_PATIENCE,
        put_aside: Callable[[str], None] | None = None,
    ) -> None:
        """Set the state directory and the memory's directory; opens nothing. `patience` is the time
        in seconds to wait for other writers; `put_aside` moves a damaged file away.
        """
        self._path = os.path.join(state, FOLDER, FILE)
        self._root = root.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        self._patience = patience
        self._put_aside = put_aside

    def read_given(self, session: str) -> tuple[frozenset[bytes], float]:
        """Return the paths of the notes given to an agent in this session, and how much room they
        took together, with those of other memories, as `record_given` was told.
        """
        nothing: tuple[frozenset[bytes], float] = (frozenset(), 0.0)
        if not session:
            return nothing
        return self._read(lambda it: _read_given(it, session, self._root)) or nothing

    def record_given(self, session: str, paths: Iterable[bytes], room: float = 0.0) -> None:
        """Record that the notes at `paths` were given to an agent together and took this `room`.
        Raises sqlite3.Error and OSError.
        """
        distinct = sorted(set(paths))

        def give(connection: sqlite3.Connection) -> None:
            _give(connection, self._root, session, distinct)
            if session and room:
                _spend(connection, session, room)

        self._run(give)

    def forget_given(self, session: str) -> None:
        """Forget what was given in this session, so that it may be given again. Raises
        sqlite3.Error and OSError.
        """

        def forget(connection: sqlite3.Connection) -> None:
            connection.execute(_SPENT)
            for table in ("given", "spent"):
                connection.execute(f"DELETE FROM {table} WHERE session = ?", (session,))

        if session and os.path.exists(self._path):
            self._run(forget)

    def list_given_together(self) -> list[tuple[bytes, bytes]]:
        """Return the pairs of notes that were given to agents together."""
        sql = "SELECT CAST(one AS BLOB), CAST(other AS BLOB) FROM together WHERE memory = ?"
        return self._rows(sql, self._root)

    def record_use(self, path: bytes, kind: str) -> None:
        """Record that the user opened or confirmed the note at `path`. Raises sqlite3.Error and
        OSError.
        """
        self._run(lambda connection: _use(connection, self._root, path, kind))

    def count_by_user(self) -> Mapping[bytes, int]:
        """Return how often the user opened or confirmed each note."""
        sql = (
            "SELECT CAST(path AS BLOB), CAST(total(times) AS INTEGER) FROM used "
            "WHERE memory = ? AND kind <> ? GROUP BY path"
        )
        return dict(self._rows(sql, self._root, GIVEN))

    def report(self) -> list[tuple[bytes, str, int, str]]:
        """Return path, kind, count and last time (ISO 8601) of every usage, newest first."""
        sql = (
            "SELECT CAST(path AS BLOB), CAST(kind AS TEXT), CAST(times AS INTEGER), "
            "CAST(last AS TEXT) FROM used WHERE memory = ? ORDER BY last DESC, path"
        )
        return self._rows(sql, self._root)

    def record_miss(self, words: str) -> None:
        """Record the `words` of a search without results. Raises sqlite3.Error and OSError."""
        self._run(lambda connection: _miss(connection, self._root, words))

    def list_misses(self) -> list[tuple[str, str]]:
        """Return the searches without results, with their last time (ISO 8601), newest first."""
        sql = (
            "SELECT CAST(words AS TEXT), CAST(last AS TEXT) FROM gap "
            "WHERE memory = ? ORDER BY last DESC, n DESC"
        )
        return self._rows(sql, self._root)

    def delete_miss(self, words: str) -> None:
        """Delete a search without results. Raises sqlite3.Error and OSError."""
        sql = "DELETE FROM gap WHERE memory = ? AND words = ?"
        self._run(lambda connection: connection.execute(sql, (self._root, words)))

    def purge(self, mentions: Callable[[str], bool]) -> int:
        """Delete the rows, of all memories, with a text for which `tells` returns True, so that no
        byte of them is left; return how many. Raises sqlite3.Error and OSError.
        """
        if not os.path.exists(self._path):
            return 0
        count = self._run(lambda connection: _forget(connection, mentions))
        with closing(open_database(self._path, timeout=self._patience)) as connection:
            # rows deleted earlier may still be in free pages
            connection.execute("VACUUM")
        return count

    def _rows(self, sql: str, *values: str) -> list[Any]:
        # callers cast the types: a flipped bit may have turned a path into a number
        return self._read(lambda connection: connection.execute(sql, values).fetchall()) or []

    def _read(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer | None:
        """Return what `work` reads; None where the file is missing or cannot be read."""
        if not os.path.exists(self._path):
            return None
        try:
            return self._run(work)
        except (sqlite3.Error, OSError, UnicodeDecodeError):
            return None

    def _run(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """Do `work` in one transaction, with a new file if the existing one is damaged."""
        identity = _identity(self._path)
        try:
            return self._run_once(work)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if self._put_aside is None:
                raise
            # imported here: the hook, which repairs nothing, never gets here
            from ricordo.storage.sqlite import is_transient

            # SQLite's error message may quote damaged data
            if is_transient(error):
                raise
            if _identity(self._path) == identity:
                self._put_aside(self._path)
        return self._run_once(work)

    def _run_once(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
        connection = open_database(self._path, timeout=self._patience)
        with closing(connection), connection:
            _prepare(connection)
            return work(connection)


def _prepare(connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if not 0 <= version <= VERSION:
        raise sqlite3.DatabaseError(f"The tables are of version {version}.")
    if version < VERSION:
        connection.executescript(f"{_SCHEMA} PRAGMA user_version = {VERSION};")
    # an agent is waiting, and a system crash would lose little
    connection.execute("PRAGMA synchronous = OFF")
    connection.text_factory = lambda text: text.decode("utf-8", "replace")


def _read_given(
    connection: sqlite3.Connection, session: str, root: str
) -> tuple[frozenset[bytes], float]:
    sql = "SELECT CAST(path AS BLOB) FROM given WHERE session = ? AND memory = ?"
    paths = frozenset(path for (path,) in connection.execute(sql, (session, root)))
    try:
        sql = "SELECT CAST(total(room) AS REAL) FROM spent WHERE session = ?"
        return paths, connection.execute(sql, (session,)).fetchone()[0]
    except sqlite3.OperationalError:
        # the table comes with the first notes
        return paths, 0.0


def _give(connection: sqlite3.Connection, root: str, session: str, paths: list[bytes]) -> None:
    for number, path in enumerate(paths):
        _use(connection, root, path, GIVEN)
        connection.executemany(
            "INSERT OR REPLACE INTO together (memory, one, other) VALUES (?, ?, ?)",
            [(root, path, other) for other in paths[number + 1 :]],
        )
        if session:
            connection.execute(
                "INSERT OR IGNORE INTO given (session, memory, path) VALUES (?, ?, ?)",
                (session, root, path),
            )
    _keep_newest(connection, "given", MOST_GIVEN)
    _keep_newest(connection, "together", MOST_TOGETHER)


def _spend(connection: sqlite3.Connection, session: str, room: float) -> None:
    connection.execute(_SPENT)
    connection.execute(
        "INSERT INTO spent (session, room) VALUES (?, ?) "
        "ON CONFLICT (session) DO UPDATE SET room = room + excluded.room",
        (session, room),
    )
    _keep_newest(connection, "spent", MOST_GIVEN)


def _use(connection: sqlite3.Connection, root: str, path: bytes, kind: str) -> None:
    connection.execute(
        f"INSERT INTO used VALUES (?, ?, ?, 1, {_NOW}) ON CONFLICT (memory, path, kind) "
        "DO UPDATE SET times = times + 1, last = excluded.last",
        (root, path, kind),
    )


def _miss(connection: sqlite3.Connection, root: str, words: str) -> None:
    connection.execute(
        f"INSERT OR REPLACE INTO gap (memory, words, last) VALUES (?, ?, {_NOW})", (root, words)
    )
    # by rank, not by number: a repeated search leaves a gap in the numbers
    connection.execute(
        "DELETE FROM gap WHERE n <= (SELECT n FROM gap ORDER BY n DESC LIMIT 1 OFFSET ?)",
        (MAX_MISSES,),
    )


def _forget(connection: sqlite3.Connection, tells: Callable[[str], bool]) -> int:
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute(_SPENT)
    count = 0
    for table, columns in _TEXTS.items():
        rows = connection.execute(f"SELECT DISTINCT {', '.join(columns)} FROM {table}").fetchall()
        # types are uncertain: a flipped bit may have turned a text into a number
        matching = [row for row in rows if any(tells(_as_text(value)) for value in row)]
        where = " AND ".join(f"{column} IS ?" for column in columns)
        connection.executemany(f"DELETE FROM {table} WHERE {where}", matching)
        count += len(matching)
    return count


def _as_text(value: object) -> str:
    return os.fsdecode(value) if isinstance(value, bytes) else str(value)


def _keep_newest(connection: sqlite3.Connection, table: str, most: int) -> None:
    connection.execute(f"DELETE FROM {table} WHERE n <= (SELECT max(n) FROM {table}) - ?", (most,))


def _identity(path: str) -> tuple[int, int] | None:
    """Return device and inode of a file; None if it does not exist."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
