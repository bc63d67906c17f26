"""The database of transcripts: sessions, which notes they touched, the origins of notes. One SQLite
file in Ricordo's state directory, for all memories.

Agents delete old transcripts; their data stays here. `catch_up` brings it up to date. A file that
is damaged, or that a newer Ricordo wrote, is put aside and rebuilt. If the directory cannot be
written, the data is in memory for as long as the `TranscriptStore` exists.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

from ricordo.agents.registry import find_agent
from ricordo.agents.transcripts.session import FileAction, MessagePlace, Session
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.storage.cache_file import move_aside
from ricordo.storage.database import check_state_location, is_remote
from ricordo.storage.sqlite import is_read_only, is_transient, open_read_only
from ricordo.storage.state_file import create_private_directory, open_database
from ricordo.text import make_visible

FILE = "activity.db"
VERSION = 1
"""Of the tables, and of what is read of transcripts: with another one they are read again."""
PATIENCE = 2.0
"""Seconds for which another process may write."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS transcript (
    n INTEGER PRIMARY KEY, agent TEXT NOT NULL, path TEXT NOT NULL, session TEXT NOT NULL,
    stamp TEXT NOT NULL DEFAULT '', learnt TEXT NOT NULL DEFAULT '',
    id TEXT NOT NULL DEFAULT '', cwd TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '', started TEXT NOT NULL DEFAULT '',
    ended TEXT NOT NULL DEFAULT '', continues TEXT NOT NULL DEFAULT '',
    part_of TEXT NOT NULL DEFAULT '',
    UNIQUE (path, session)
);
CREATE TABLE IF NOT EXISTS touch (
    transcript INTEGER NOT NULL, call TEXT NOT NULL, path TEXT NOT NULL, deed TEXT NOT NULL,
    at TEXT NOT NULL, done TEXT NOT NULL DEFAULT '', key TEXT NOT NULL,
    offset INTEGER NOT NULL, line INTEGER NOT NULL,
    window_offset INTEGER NOT NULL, window_line INTEGER NOT NULL,
    PRIMARY KEY (transcript, call, path, deed)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS origin (
    memory TEXT NOT NULL, note TEXT NOT NULL, session TEXT NOT NULL, call TEXT NOT NULL,
    at TEXT NOT NULL, told TEXT NOT NULL, stamp TEXT NOT NULL,
    PRIMARY KEY (memory, note, session, call)
) WITHOUT ROWID;
"""
PURGED = "[purged]"
"""What replaces a value that was purged."""
_TEXTS = {
    "transcript": ("path", "session", "learnt", "id", "cwd", "branch", "title", "part_of"),
    "touch": ("call", "path", "key"),
    "origin": ("memory", "note", "session", "call", "told"),
}
"""Columns that may hold words of a session."""

Answer = TypeVar("Answer")


class StoredTranscript(NamedTuple):
    """A transcript that was read, at least in part."""

    number: int
    """Its number in the database."""
    session: Session
    source: TranscriptSource
    """As it was when it was read; its stamp is "" if it was not read to its end."""


class StoredTouch(NamedTuple):
    """What a session did to a markdown file."""

    transcript: int
    action: FileAction
    path: str
    """As the agent wrote it."""
    call: str
    at: str
    """ISO 8601 in UTC: when the tool was called."""
    done_at: str
    """When it was done; "" without a result."""
    key: str
    where: MessagePlace
    window: MessagePlace
    """The place from which the messages of the user before it can be read."""


class StoredOrigin(NamedTuple):
    """The origin of a note or of a change of it, as it is stored."""

    note: str
    """Its path in the memory when the origin was found."""
    session: str
    call: str
    at: str
    content: str
    """JSON of the caller."""
    stamp: str
    """Changes with the data from which it was made."""


class TranscriptStore:
    """The database in one state directory. What cannot be read counts as not there."""

    def __init__(self, state: str) -> None:
        """Nothing is opened yet."""
        self._state = state
        self._path = os.path.join(state, FILE)
        self._spare: sqlite3.Connection | None = None
        """A database in memory, used if the file cannot be written."""
        self.notices: list[str] = []
        """Messages for the user about the file, oldest first."""

    @contextmanager
    def open_for_writing(self) -> Iterator[sqlite3.Connection]:
        """Give a connection for writing, outside a transaction. Raises sqlite3.Error, OSError and
        StateUnusable.
        """
        if self._spare is not None:
            yield self._spare
            return
        if not os.path.isdir(self._state):
            check_state_location(self._state)
        create_private_directory(self._state)
        try:
            connection = _open(self._path)
        except sqlite3.Error as error:
            if is_transient(error):
                raise
            self._put_aside(error)
            connection = _open(self._path)
        with closing(connection):
            try:
                yield connection
            except sqlite3.Error as error:
                if not is_transient(error):
                    self._put_aside(error)
                raise

    def work_in_memory(self) -> bool:
        """From now on store in memory, starting with a copy of the file; return False if that is
        done already. Raises sqlite3.Error.
        """
        if self._spare is not None:
            return False
        # SQLite serialises its users
        spare = sqlite3.connect(":memory:", check_same_thread=False)
        with suppress(sqlite3.Error, OSError), closing(open_read_only(self._path)) as stored:
            if stored.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                stored.backup(spare)
        _prepare(spare, is_local=False)
        self._spare = spare
        return True

    def _put_aside(self, error: sqlite3.Error) -> None:
        move_aside(self._path)
        self.notices.append(
            f"The database of transcripts could not be read ({error}). It was moved to "
            f"{make_visible(self._path)}.unfit; the transcripts are read again."
        )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        if self._spare is None and is_read_only(self._path):
            with closing(open_read_only(self._path)) as connection:
                _has_tables(connection)
                yield connection
        else:
            with self.open_for_writing() as connection:
                yield connection

    def list_transcripts(self) -> list[StoredTranscript]:
        """Return the transcripts that were read."""
        sql = (
            "SELECT n, agent, path, session, stamp, id, cwd, branch, title, started, ended, "
            "continues, part_of FROM transcript"
        )
        return self._query(_make_transcript, sql)

    def list_touches(self, transcripts: Collection[int]) -> list[StoredTouch]:
        """Return what these transcripts did to markdown files, oldest first."""
        wanted = frozenset(transcripts)
        sql = (
            "SELECT transcript, deed, path, call, at, done, key, offset, line, window_offset, "
            "window_line FROM touch ORDER BY at, offset, call"
        )
        return [touch for touch in self._query(_make_touch, sql) if touch.transcript in wanted]

    def list_origins(self, memory: str) -> list[StoredOrigin]:
        """Return the origins of the notes of a memory, oldest first."""
        sql = (
            "SELECT note, session, call, at, told, stamp FROM origin WHERE memory = ? "
            "ORDER BY at, call"
        )
        return self._query(lambda row: StoredOrigin(*map(str, row)), sql, to_stored_path(memory))

    def save_origins(self, memory: str, origins: Collection[StoredOrigin]) -> None:
        """Store origins of notes of a memory. Raises sqlite3.Error, OSError, StateUnusable."""
        if origins:
            rows = [
                (to_stored_path(memory), to_stored_path(origin.note), *origin[1:])
                for origin in origins
            ]
            with self.open_for_writing() as connection, connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO origin "
                    "(memory, note, session, call, at, told, stamp) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    rows,
                )

    def purge(self, value: str) -> int:
        """Remove `value` from everything that is stored; return how many rows had it. Raises
        sqlite3.Error, OSError and StateUnusable.
        """
        if not os.path.exists(self._path):
            return 0
        with self.open_for_writing() as connection:
            connection.execute("PRAGMA secure_delete = ON")
            with connection:
                count = sum(
                    connection.execute(
                        f"UPDATE OR REPLACE {table} SET {column} = replace({column}, ?1, ?2) "
                        f"WHERE instr({column}, ?1)",
                        (form, PURGED),
                    ).rowcount
                    for table, columns in _TEXTS.items()
                    for column in columns
                    for form in dict.fromkeys((value, json.dumps(value)[1:-1]))
                )
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return count

    def _query(
        self, make: Callable[[tuple[Any, ...]], Answer], sql: str, *values: str
    ) -> list[Answer]:
        if self._spare is None and not os.path.exists(self._path):
            return []
        try:
            with self._reading() as connection:
                return [make(row) for row in connection.execute(sql, values)]
        except (sqlite3.Error, OSError, ValueError, TypeError):
            # a damaged file may hold any value
            return []


def to_stored_path(path: str) -> str:
    """Return a path as the database can hold it; what is not UTF-8 in it is lost."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _open(path: str) -> sqlite3.Connection:
    connection = open_database(path, timeout=PATIENCE)
    try:
        _prepare(connection, is_local=not is_remote(os.path.dirname(path)))
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, *, is_local: bool) -> None:
    if not _has_tables(connection):
        # with a write-ahead log, small transactions do not each wait for the disk
        connection.execute(f"PRAGMA journal_mode = {'WAL' if is_local else 'DELETE'}")
        made = f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;"
        connection.executescript(made)
    connection.execute("PRAGMA synchronous = NORMAL")


def _has_tables(connection: sqlite3.Connection) -> bool:
    """Say whether the tables are there; what is not UTF-8 in them is replaced when read."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, VERSION):
        raise sqlite3.DatabaseError(f"its tables have version {version}")
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    return bool(version)


def _make_transcript(row: tuple[Any, ...]) -> StoredTranscript:
    n, agent, path, session, stamp, id_, cwd, *others = row
    known = Session(find_agent(agent), id_, path, cwd, *others)
    return StoredTranscript(n, known, TranscriptSource(known.agent, path, session, cwd, stamp))


def _make_touch(row: tuple[Any, ...]) -> StoredTouch:
    transcript, deed, path, call, at, done, key, offset, line, first, first_line = row
    where, window = MessagePlace(offset, line), MessagePlace(first, first_line)
    return StoredTouch(transcript, FileAction(deed), path, call, at, done, key, where, window)
