"""The history: every recorded version of every file, with its author, time and reason.

The versions of a file are the contents that its operations produced. Records are never updated,
except the state of an act that is in progress.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ricordo.errors import MemoryUnreadable, StateUnusable
from ricordo.memory.change import USER, Author, AuthorRole, compute_digest
from ricordo.storage.database import Database, transaction
from ricordo.storage.operation import (
    CHANGE,
    FIRST,
    SEEN,
    FileOperation,
    HistoryEntry,
    Place,
    Root,
    decode_path,
    encode_path,
    entry_from_row,
    operation_from_row,
)
from ricordo.text import make_visible

_OP = "act, n, root, path, pre, post, session, from_root, from_path, single, outcome, written, mode"
"""Two numbers, and the columns that `operation_from_row` reads."""
_PAGES_OF_ACT = 6
"""Pages that change with the state of an act, which changes three times at most: its row, the
index of unfinished acts, the roots of both."""
_HEADS_PER_PAGE = 8


_own_entries: set[tuple[str, int]] = set()
"""The acts that this process added, by database."""


class History:
    """Queries and updates of the history on one connection. SQLite errors pass through;
    `Database.connect` translates them.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Use a `connection` from `Database.connect`."""
        self.db = connection

    # roots

    def ensure_root(self, path: str) -> Root:
        """Return the root at `path`, recognized by device and inode if it was moved; a new root
        gets an id. Raises MemoryUnreadable if there is no directory.
        """
        try:
            status = os.stat(path)
        except OSError as error:
            raise MemoryUnreadable(
                f"{make_visible(path)} cannot be opened: {error.strerror}."
            ) from None
        row = self.db.execute("SELECT * FROM root WHERE path = ?", (path,)).fetchone()
        if row is None:
            for moved in self.db.execute(
                "SELECT * FROM root WHERE device = ? AND inode = ?", (status.st_dev, status.st_ino)
            ).fetchall():
                if not os.path.exists(moved[1]):
                    self.db.execute("UPDATE root SET path = ? WHERE id = ?", (path, moved[0]))
                    return Root(moved[0], path, status.st_dev, status.st_ino)
            root = Root(secrets.token_hex(8), path, status.st_dev, status.st_ino)
            self.db.execute(
                "INSERT INTO root VALUES (?, ?, ?, ?)",
                (root.id, root.path, root.device, root.inode),
            )
            return root
        return Root(*row)

    def get_root(self, root: str) -> Root:
        """Return the root with the id of an operation or act."""
        return Root(*self.db.execute("SELECT * FROM root WHERE id = ?", (root,)).fetchone())

    def list_roots(self) -> list[Root]:
        """Return every recorded root."""
        return [Root(*row) for row in self.db.execute("SELECT * FROM root ORDER BY path")]

    def find_root(self, path: str) -> Root | None:
        """Return the root at `path`; None if it is not recorded."""
        row = self.db.execute("SELECT * FROM root WHERE path = ?", (path,)).fetchone()
        return Root(*row) if row else None

    def update_root(self, root: Root) -> None:
        """Record that another directory is now at the root's path, as the user confirmed by
        working in it.
        """
        self.db.execute(
            "UPDATE root SET device = ?, inode = ? WHERE id = ?", (root.device, root.inode, root.id)
        )

    # contents

    def store_content(self, content: bytes | None) -> str | None:
        """Store a content and return its SHA-256; None for a missing file."""
        sha = compute_digest(content)
        if content is not None and not self.has_content(sha):
            packed = zlib.compress(content)
            self.db.execute(
                "INSERT OR IGNORE INTO blob VALUES (?, ?, ?)", (sha, len(content), packed)
            )
            self.db.execute("DELETE FROM dropped WHERE sha = ?", (sha,))
        return sha

    def delete_contents(self, texts: Iterable[str]) -> None:
        """Delete contents by their SHA-256; it stays recorded that they existed."""
        shas = [(sha,) for sha in texts]
        self.db.executemany("INSERT OR IGNORE INTO dropped VALUES (?)", shas)
        self.db.executemany("DELETE FROM blob WHERE sha = ?", shas)

    def has_content(self, sha: str | None) -> bool:
        """Return whether a content is stored."""
        query = "SELECT 1 FROM blob WHERE sha = ?"
        return self.db.execute(query, (sha,)).fetchone() is not None

    def is_unmasked(self, sha: str | None) -> bool:
        """Return whether a content is stored with no value purged from it; True for None."""
        query = "SELECT 1 FROM blob WHERE sha = ? AND sha NOT IN (SELECT sha FROM masked)"
        return sha is None or self.db.execute(query, (sha,)).fetchone() is not None

    def get_content(self, sha: str | None) -> bytes | None:
        """Return a stored content; None for None. Raises KeyError if it was purged."""
        if sha is None:
            return None
        row = self.db.execute("SELECT data FROM blob WHERE sha = ?", (sha,)).fetchone()
        if row is None:
            raise KeyError(sha)
        return zlib.decompress(row[0])

    def list_known_contents(self, root: str) -> Mapping[str, str]:
        """Return the last known SHA-256 of every file of a root."""
        rows = self.db.execute("SELECT path, sha FROM head WHERE root = ?", (root,))
        return {decode_path(path): sha for path, sha in rows}

    def get_known_content(self, root: str, path: str) -> str | None:
        """Return the last known SHA-256 of a file; None if it does not exist."""
        query = "SELECT sha FROM head WHERE root = ? AND path = ?"
        row = self.db.execute(query, (root, encode_path(path))).fetchone()
        return row[0] if row else None

    def list_stored_contents(self, root: str) -> Mapping[str, str]:
        """Return what `heads` returns, with the masked content where a value was purged."""
        query = "SELECT path, coalesce(masked, sha) FROM head WHERE root = ?"
        return {decode_path(path): sha for path, sha in self.db.execute(query, (root,))}

    def set_known_content(self, root: str, path: str, sha: str | None) -> None:
        """Record the current content of a file; None if it does not exist."""
        if sha is None:
            self.db.execute(
                "DELETE FROM head WHERE root = ? AND path = ?", (root, encode_path(path))
            )
        else:
            self.db.execute(
                "INSERT OR REPLACE INTO head (root, path, sha) VALUES (?, ?, ?)",
                (root, encode_path(path), sha),
            )

    # acts

    def add_entry(
        self,
        root: str,
        at: str,
        kind: str,
        *,
        subject: str = "",
        author: Author = USER,
        reason: str = "",
        state: str = "done",
        undoes: int | None = None,
        token: str = "",
    ) -> int:
        """Add an act and return its number."""
        who = (author.role.value, author.name, author.model, author.prompt_version)
        cursor = self.db.execute(
            "INSERT INTO act (root, at, kind, subject, role, name, model, prompt_version, reason,"
            " state, undoes, token) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (root, at, kind, encode_path(subject), *who, reason, state, undoes, token),
        )
        assert cursor.lastrowid is not None
        _own_entries.add((self._database, cursor.lastrowid))
        return cursor.lastrowid

    def is_own(self, act: int) -> bool:
        """Return whether this process added the act."""
        return (self._database, act) in _own_entries

    @property
    def _database(self) -> str:
        """The path of the database."""
        return str(self.db.execute("PRAGMA database_list").fetchone()[2])

    def add_operations(self, act: int, ops: Iterable[FileOperation]) -> None:
        """Add the operations of an act; their contents must be stored already."""
        self.db.executemany(
            "INSERT INTO op VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    act,
                    n,
                    op.root,
                    encode_path(op.path),
                    op.pre,
                    op.post,
                    op.session,
                    op.from_root,
                    encode_path(op.from_path),
                    int(op.single),
                    op.mode,
                    op.outcome,
                    op.written,
                )
                for n, op in enumerate(ops)
            ),
        )

    def count_pages_to_finish(self, ops: int) -> int:
        """Return the maximum number of pages that change while an act with so many `ops` is
        carried out: those of its row, and those of table `head`, with eight or more rows per page.
        """
        heads = int(self.db.execute("SELECT count(*) FROM head").fetchone()[0])
        new, old = ops // _HEADS_PER_PAGE + 1, heads // _HEADS_PER_PAGE + 1
        return new + min(ops, old) + _PAGES_OF_ACT

    def set_state(self, act: int, state: str) -> None:
        """Set the state of an act: prepared, reverting, done, refused."""
        self.db.execute("UPDATE act SET state = ? WHERE n = ?", (state, act))

    def set_outcome(self, act: int, n: int, outcome: str) -> None:
        """Set the outcome of one operation."""
        self.db.execute("UPDATE op SET outcome = ? WHERE act = ? AND n = ?", (outcome, act, n))

    def list_unfinished(self) -> list[HistoryEntry]:
        """Return the interrupted acts, oldest first."""
        return self._acts("state IN ('prepared', 'reverting') ORDER BY n", ())

    def list_entries(self, root: str) -> list[HistoryEntry]:
        """Return the acts done in a root, including those that moved a file here from another
        root, oldest first.
        """
        touches = "(root = ? OR n IN (SELECT act FROM op WHERE root = ?))"
        return self._acts(f"{touches} AND state = 'done' ORDER BY n", (root, root))

    def list_entries_by_role(self, root: str, role: AuthorRole) -> list[HistoryEntry]:
        """Return the acts of one role that changed files of a root, and all that undid an act,
        oldest first.
        """
        whose = "(root = ? AND role = ? AND kind = ?)"
        where = f"state = 'done' AND ({whose} OR undoes IS NOT NULL) ORDER BY n"
        return self._acts(where, (root, role.value, CHANGE))

    def list_user_writes(self, root: str) -> list[tuple[str, str, str]]:
        """Return what the user wrote to files of a root through Ricordo or accepted, oldest first:
        the path, the SHA-256 of the content, and the time, ISO 8601.

        Excludes reverts, and changes of no statement: fixes, and updated links to a note that was
        moved or retired.
        """
        rows = self.db.execute(
            "SELECT op.path, op.post, act.at FROM op JOIN act ON act.n = op.act"
            " WHERE op.root = ? AND op.post IS NOT NULL AND op.outcome = ''"
            " AND act.kind = ? AND act.state = 'done' AND act.undoes IS NULL AND act.role <> ?"
            " AND NOT EXISTS (SELECT 1 FROM op AS it WHERE it.act = act.n AND it.post IS NULL)"
            " ORDER BY op.act, op.n",
            (root, CHANGE, AuthorRole.RULE.value),
        )
        return [(decode_path(path), content, at) for path, content, at in rows]

    def list_entries_producing(self, sha: str | None) -> list[HistoryEntry]:
        """Return the acts that produced a content, of any file, oldest first."""
        return self._acts("n IN (SELECT act FROM op WHERE post = ?) ORDER BY n", (sha,))

    def list_decisions(self, kinds: Sequence[str]) -> list[HistoryEntry]:
        """Return the acts of those kinds in all roots, and all that undid an act, oldest first."""
        wanted = ", ".join("?" * len(kinds))
        where = f"state = 'done' AND (kind IN ({wanted}) OR undoes IS NOT NULL) ORDER BY n"
        return self._acts(where, tuple(kinds))

    def was_recorded(self, root: str) -> bool:
        """Return whether the whole root was recorded once."""
        query = "SELECT 1 FROM act WHERE root = ? AND kind = ? AND state = 'done'"
        return self.db.execute(query, (root, FIRST)).fetchone() is not None

    def get_entry(self, n: int) -> HistoryEntry | None:
        """Return one act; None if there is none."""
        acts = self._acts("n = ?", (n,))
        return acts[0] if acts else None

    def list_operations(self, act: int) -> list[FileOperation]:
        """Return the operations of an act, in order."""
        return [op for _, _, op in self._ops("act = ?", (act,))]

    def list_operations_after(self, root: str, after: int) -> list[tuple[int, int, FileOperation]]:
        """Return the operations on files of a root in later acts, oldest first, each with its act's
        number and its own.
        """
        return self._ops("root = ? AND act > ?", (root, after))

    def list_operations_on(self, root: str, path: str) -> list[tuple[int, int, FileOperation]]:
        """Return the operations on one file, oldest first, each with its act's number and its
        own.
        """
        return self._ops("root = ? AND path = ?", (root, encode_path(path)))

    def list_moves(self) -> list[tuple[int, Place, Place]]:
        """Return every move of a file, oldest first: its act, its old and its new place."""
        rows = self.db.execute(
            "SELECT op.act, op.from_root, op.from_path, op.root, op.path FROM op"
            " JOIN act ON act.n = op.act WHERE op.from_path <> '' AND act.state = 'done'"
            " ORDER BY op.act, op.n"
        )
        return [
            (number, (from_root, decode_path(origin)), (root, decode_path(path)))
            for number, from_root, origin, root, path in rows
        ]

    def list_paths(self, root: str) -> set[str]:
        """Return every path of a root that was ever recorded."""
        rows = self.db.execute("SELECT DISTINCT path FROM op WHERE root = ?", (root,))
        return {decode_path(path) for (path,) in rows}

    def get_size(self, sha: str | None) -> int | None:
        """Return the size of a stored content in bytes; None for a missing or purged one."""
        row = self.db.execute("SELECT size FROM blob WHERE sha = ?", (sha,)).fetchone()
        return int(row[0]) if row else None

    def store_displaced(self, root: str, path: str, content: bytes, at: str) -> None:
        """Store a content of another program that is not in any file."""
        with transaction(self.db):
            sha = self.store_content(content)
            act = self.add_entry(
                root, at, SEEN, author=Author(AuthorRole.OUTSIDE), reason="displaced while we wrote"
            )
            self.add_operations(act, [FileOperation(root, path, None, sha, outcome="kept")])

    def add_conflict(self, root: str, path: str, base: str | None, content: bytes, at: str) -> None:
        """Record another program's content, based on the one with the SHA-256 `base`, that was
        displaced by a write of Ricordo and could not be merged into the file.
        """
        with transaction(self.db):
            sha = self.store_content(content)
            if any(
                op.outcome == "displaced" and op.post == sha
                for *_, op in self.list_operations_on(root, path)
            ):
                return
            reason = "written at the same moment as another change; not in the file"
            act = self.add_entry(root, at, SEEN, author=Author(AuthorRole.OUTSIDE), reason=reason)
            self.add_operations(act, [FileOperation(root, path, base, sha, outcome="displaced")])

    def _ops(self, where: str, values: tuple[object, ...]) -> list[tuple[int, int, FileOperation]]:
        rows = self.db.execute(f"SELECT {_OP} FROM op WHERE {where} ORDER BY act, n", values)
        return [(row[0], row[1], operation_from_row(row[2:])) for row in rows]

    def _acts(self, where: str, values: tuple[object, ...]) -> list[HistoryEntry]:
        rows = self.db.execute(
            "SELECT n, root, at, kind, subject, role, name, model, prompt_version, reason, state,"
            f" undoes, token FROM act WHERE {where}",
            values,
        )
        return [entry_from_row(row) for row in rows]


@contextmanager
def open_recorded(database: Database, path: str) -> Iterator[tuple[History, str] | None]:
    """Open the history for the memory at `path` and yield both, the memory by its id; None if it is
    not recorded. Raises StateUnusable.
    """
    if not database.exists:
        yield None
        return
    with database.connect() as connection:
        history = History(connection)
        root = history.find_root(path)
        yield (history, root.id) if root else None


def has_history(database: Database, path: str) -> bool:
    """Return whether the history has the whole memory at `path`; False if it cannot be read."""
    try:
        with open_recorded(database, path) as recorded:
            return recorded is not None and recorded[0].was_recorded(recorded[1])
    except StateUnusable:
        return False
