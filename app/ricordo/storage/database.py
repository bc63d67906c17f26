"""The history database: one SQLite file for all memories, outside of them.

It contains the journal of writes, every version of every file, and the user's decisions. A commit
is on disk before it returns.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

from ricordo.errors import StateUnusable
from ricordo.storage.lock import history_lock
from ricordo.storage.sqlite import is_read_only, open_read_only
from ricordo.storage.state_file import create_state_file, open_database, open_database_to_read
from ricordo.text import make_visible

DATABASE = "history.db"

_FIRST = """
CREATE TABLE root (
    id TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL
);
CREATE TABLE blob (
    sha TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE TABLE act (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    root TEXT NOT NULL REFERENCES root (id),
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    role TEXT NOT NULL DEFAULT 'you',
    name TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',
    prompt_version TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'done',
    token TEXT NOT NULL DEFAULT '',
    undoes INTEGER REFERENCES act (n)
);
CREATE INDEX act_by_root ON act (root, n);
CREATE INDEX act_unfinished ON act (state) WHERE state <> 'done';
CREATE TABLE op (
    act INTEGER NOT NULL REFERENCES act (n),
    n INTEGER NOT NULL,
    root TEXT NOT NULL REFERENCES root (id),
    path TEXT NOT NULL,
    pre TEXT REFERENCES blob (sha),
    post TEXT REFERENCES blob (sha),
    session TEXT NOT NULL DEFAULT '',
    from_root TEXT NOT NULL DEFAULT '',
    from_path TEXT NOT NULL DEFAULT '',
    single INTEGER NOT NULL DEFAULT 0,
    mode INTEGER,
    outcome TEXT NOT NULL DEFAULT '',
    written TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (act, n)
) WITHOUT ROWID;
CREATE INDEX op_by_path ON op (root, path, act);
CREATE TABLE head (
    root TEXT NOT NULL REFERENCES root (id),
    path TEXT NOT NULL,
    sha TEXT NOT NULL REFERENCES blob (sha),
    PRIMARY KEY (root, path)
) WITHOUT ROWID;
"""
_PURGED = """
CREATE TABLE dropped (
    sha TEXT PRIMARY KEY
) WITHOUT ROWID;
CREATE TABLE masked (
    sha TEXT PRIMARY KEY REFERENCES blob (sha)
) WITHOUT ROWID;
ALTER TABLE head ADD COLUMN masked TEXT REFERENCES blob (sha);
"""
_VERDICTS = """
CREATE TABLE judgement (
    act INTEGER PRIMARY KEY REFERENCES act (n),
    content TEXT NOT NULL,
    until TEXT NOT NULL DEFAULT '',
    findings TEXT NOT NULL DEFAULT ''
);
"""
_MIGRATIONS = (_FIRST, _PURGED, _VERDICTS)
"""What each schema version adds to the one before."""
VERSION = len(_MIGRATIONS)
"""The schema version; a database with a higher one is from a newer Ricordo."""
_SYNCED = frozenset(
    ("dropbox", "onedrive", "icloud drive", "mobile documents", "google drive", "syncthing")
)
_REMOTE = ("nfs", "cifs", "smb", "fuse", "9p", "afs", "ceph", "glusterfs")

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FRAME = 24
"""Bytes that the write-ahead log adds to a page (sqlite.org/fileformat2.html)."""

_Identity = tuple[int, int]
"""Device and inode."""


_notices: dict[str, deque[str]] = defaultdict(deque)
"""Messages for the user about the history at a path, in order. They do not belong to who opened it:
whichever part of the program meets damage first moves the file aside, and another one reports it.
"""


def take_all_notices() -> list[str]:
    """Return messages for the user about all histories that no other part of the program took."""
    return [message for notices in list(_notices.values()) for message in _take(notices)]


def _take(notices: deque[str]) -> list[str]:
    taken: list[str] = []
    with suppress(IndexError):
        while True:
            taken.append(notices.popleft())
    return taken


class Database:
    """Opens the history of one state directory."""

    def __init__(self, state: str) -> None:
        """Set the state directory; it is created on the first opening only."""
        self.state = state
        self.path = os.path.join(state, DATABASE)

    def take_notices(self) -> list[str]:
        """Return messages for the user about this history; each is returned once."""
        return _take(_notices[os.path.abspath(self.path)])

    def find_damage(self) -> str:
        """Return what is wrong with the file of the history, which is neither changed nor moved; ""
        if it can be read, or is not there. Its schema alone is read.
        """
        if not self.exists:
            return ""
        # without a log the file is complete, and no index for one is created beside it
        is_alone = not os.path.exists(f"{self.path}-wal")
        try:
            with closing(open_database_to_read(self.path, immutable=is_alone)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master")
        except (OSError, sqlite3.Error) as error:
            return str(error) if _is_damage(error) else ""
        return ""

    @property
    def exists(self) -> bool:
        """Whether there is a history."""
        return os.path.exists(self.path)

    def check_location(self, memory: str | None) -> None:
        """Raise StateUnusable if the history of `memory`, None for a project without notes, must
        not be stored in this directory.
        """
        if not self.exists:
            check_state_location(self.state)
        if memory is None:
            return
        state, root = os.path.realpath(self.state), os.path.realpath(memory)
        above = root.rstrip("/")
        is_below = state.startswith(f"{above}/")
        # a home with notes is a memory, but what is hidden in it is no part of that
        if state == root or (is_below and "/." not in state.removeprefix(above)):
            raise StateUnusable(
                f"The state directory {make_visible(self.state)} is inside the memory "
                f"{make_visible(memory)}, where agents read.",
                hint="Choose another one with --state.",
            )

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """Open a connection without a transaction, read-only if the history cannot be written.
        Raises StateUnusable, for every later SQLite or system error too.
        """
        if is_read_only(self.path):
            with self._opened_to_read() as connection:
                yield connection
            return
        with ExitStack() as stack:
            connection, identity = self._open(stack)
            try:
                yield connection
            except (OSError, sqlite3.Error) as error:
                if _is_damage(error):
                    stack.close()
                    raise StateUnusable(
                        self._move_aside(error, identity), hint="Try again."
                    ) from None
                raise self._unusable(error) from None

    @contextmanager
    def _opened_to_read(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(open_read_only(self.path)) as connection:
                if self._version(connection) < VERSION:
                    raise StateUnusable(
                        f"The history at {make_visible(self.path)} is from an older Ricordo and "
                        "cannot be upgraded: it is read-only."
                    )
                yield connection
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from None

    def _open(
        self, stack: ExitStack, *, is_last: bool = False
    ) -> tuple[sqlite3.Connection, _Identity]:
        """Return a connection and the file's identity; a damaged file is moved aside first."""
        try:
            identity = self._share(stack)
            connection = open_database(self.path, timeout=5.0, autocommit=True)
            stack.enter_context(closing(connection))
            self._prepare(connection)
        except (OSError, sqlite3.Error) as error:
            if is_last or not _is_damage(error):
                raise self._unusable(error) from None
            stack.close()
            self._move_aside(error, identity)
            return self._open(stack, is_last=True)
        return connection, identity

    def _share(self, stack: ExitStack) -> _Identity:
        """Take the shared lock of the history; return the file's identity."""
        if not os.path.exists(self.path):
            check_state_location(self.state)
        stack.enter_context(history_lock(self.state, alone=False))
        create_state_file(self.state, DATABASE)
        return _identity(self.path)

    def _version(self, connection: sqlite3.Connection) -> int:
        """Return the schema version. Raises StateUnusable for a newer one."""
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > VERSION:
            raise StateUnusable(
                f"The history at {make_visible(self.path)} is from a newer Ricordo "
                f"(version {version}, supported {VERSION}).",
                hint="Update Ricordo.",
            )
        return version

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = self._version(connection)
        connection.execute("PRAGMA synchronous = FULL")
        if version < VERSION:
            mode = "DELETE" if is_remote(self.state) else "WAL"
            connection.execute(f"PRAGMA journal_mode = {mode}")
            with transaction(connection):
                # another process may have created them meanwhile
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                for migration in _MIGRATIONS[version:]:
                    for statement in migration.split(";"):
                        connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {max(version, VERSION)}")

    def _move_aside(self, error: Exception, identity: _Identity) -> str:
        """Move the damaged history with that `identity` aside, so that a new one is created; the
        notes do not depend on it. Return the message for the user, which is a notice too.
        """
        with history_lock(self.state, alone=True):
            try:
                aside = self._rename_aside() if _identity(self.path) == identity else ""
            except FileNotFoundError:
                aside = ""
            except OSError as failed:
                raise self._unusable(failed) from None
        moved = (
            f"It was moved to {make_visible(aside)}" if aside else "Another process moved it aside"
        )
        message = (
            f"The history was damaged ({error}). {moved}, and a new one was created. The memory "
            "was not changed."
        )
        _notices[os.path.abspath(self.path)].append(message)
        return message

    def _rename_aside(self) -> str:
        """Rename the history; return its new path."""
        moment = f"{self.path}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}"
        names = (moment, *(f"{moment}-{n}" for n in range(2, 1000)))
        aside = next(name for name in names if not os.path.lexists(name))
        for ending in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                os.rename(self.path + ending, aside + ending)
        return aside

    def _unusable(self, error: Exception) -> StateUnusable:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY:
            return StateUnusable(f"The history at {make_visible(self.path)} cannot be written.")
        what = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return StateUnusable(f"The history at {make_visible(self.path)} cannot be used: {what}.")


def _identity(path: str) -> _Identity:
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _is_damage(error: Exception) -> bool:
    """Return whether an error means that the file itself is damaged, not that it is unreachable."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit the changes of the block durably, or none of them."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def reserve_pages(connection: sqlite3.Connection, pages: int) -> None:
    """Reserve disk space for the next `pages` changed pages. To be called inside a transaction,
    while no other process writes. Does nothing if the file system cannot reserve space, or the
    history has no write-ahead log. Raises StateUnusable.
    """
    path = connection.execute("PRAGMA database_list").fetchone()[2]
    size = connection.execute("PRAGMA page_size").fetchone()[0] + _FRAME
    if not hasattr(os, "posix_fallocate") or not os.path.exists(f"{path}-wal"):
        return
    log = os.open(f"{path}-wal", os.O_RDWR | os.O_CLOEXEC)
    try:
        os.posix_fallocate(log, os.fstat(log).st_size, pages * size)
    except OSError as error:
        if error.errno in _DISK_FULL:
            raise StateUnusable(
                f"No disk space for the history at {make_visible(path)}: {error.strerror}."
            ) from None
    finally:
        os.close(log)


def check_state_location(state: str) -> None:
    """Raise StateUnusable for a state directory in a git work tree or a synced folder, which would
    copy every version, deleted ones too, elsewhere.
    """
    folder = os.path.realpath(state)
    while True:
        name = os.path.basename(folder).lower()
        synced = name in _SYNCED or os.path.exists(os.path.join(folder, ".stfolder"))
        if synced or os.path.exists(os.path.join(folder, ".git")):
            what = "synced folder" if synced else "git work tree"
            raise StateUnusable(
                f"The state directory {make_visible(state)} is in a {what} "
                f"({make_visible(folder)}), which would copy the history of your notes.",
                hint="Choose another one with --state.",
            )
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def is_remote(directory: str) -> bool:
    """Return whether a directory is on a network or FUSE file system, where SQLite's write-ahead
    log does not work. Detected on Linux only; elsewhere always False.
    """
    try:
        # imported late: a history that is there already is opened without it
        from pathlib import Path

        mounts = Path("/proc/self/mounts").read_text("utf-8", "replace")
    except OSError:
        return False
    real = os.path.realpath(directory)
    best, kind = "", ""
    for row in (line.split(" ") for line in mounts.split("\n") if line):
        point = row[1].replace("\\040", " ")
        if (real + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best):
            best, kind = point, row[2]
    return kind.startswith(_REMOTE)
