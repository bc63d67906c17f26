"""The history: every version of every file that was ever seen, by whom, when and why.

The versions of a file are the contents to which its ops led; nothing is ever updated but the state
of an act that is being carried out.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence

from ricordo.errors import MemoryUnreadable
from ricordo.memory.change import PERSON, Author, AuthorRole, digest
from ricordo.storage.database import transaction
from ricordo.storage.operation import (
    CHANGE,
    FIRST,
    SEEN,
    Act,
    Op,
    Place,
    Root,
    act_of,
    op_of,
    path_of,
    stored_path,
)
from ricordo.text import visible

_OP = "act, n, root, path, pre, post, session, from_root, from_path, single, outcome, written, mode"
"""Two numbers, and the columns that `op_of` takes."""
_PAGES_OF_ACT = 6
"""Pages that change while an act goes from one state to the next, three times at most: its row, the
index of unfinished ones, the roots of both."""
_HEADS_PER_PAGE = 8


class History:
    """One connection to the history, for one piece of work. SQLite errors are the caller's to
    translate: `Database.opened` does.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        """`connection` comes from `Database.opened`."""
        self.db = connection

    # roots

    def root(self, path: str) -> Root:
        """Return the root at `path`, known again by device and inode where it was moved; it gets
        an id at first sight. Raises MemoryUnreadable where no directory is there.
        """
        try:
            status = os.stat(path)
        except OSError as error:
            raise MemoryUnreadable(f"{visible(path)} cannot be opened: {error.strerror}.") from None
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

    def root_of_id(self, root: str) -> Root:
        """Return the root with an id that an op or act names."""
        return Root(*self.db.execute("SELECT * FROM root WHERE id = ?", (root,)).fetchone())

    def roots(self) -> list[Root]:
        """Return every root that was ever seen."""
        return [Root(*row) for row in self.db.execute("SELECT * FROM root ORDER BY path")]

    def known_root(self, path: str) -> Root | None:
        """Return the root at `path` where it was seen before."""
        row = self.db.execute("SELECT * FROM root WHERE path = ?", (path,)).fetchone()
        return Root(*row) if row else None

    def stands_elsewhere(self, root: Root) -> None:
        """Keep that another directory now stands at the root's path, as the person confirmed by
        working in it.
        """
        self.db.execute(
            "UPDATE root SET device = ?, inode = ? WHERE id = ?", (root.device, root.inode, root.id)
        )

    # contents

    def keep(self, content: bytes | None) -> str | None:
        """Keep a content and return its SHA-256; None for a file that is not there."""
        sha = digest(content)
        if content is not None and not self.has(sha):
            packed = zlib.compress(content)
            self.db.execute(
                "INSERT OR IGNORE INTO blob VALUES (?, ?, ?)", (sha, len(content), packed)
            )
            self.db.execute("DELETE FROM dropped WHERE sha = ?", (sha,))
        return sha

    def drop(self, texts: Iterable[str]) -> None:
        """Let contents go, by their SHA-256; that they were here stays known."""
        shas = [(sha,) for sha in texts]
        self.db.executemany("INSERT OR IGNORE INTO dropped VALUES (?)", shas)
        self.db.executemany("DELETE FROM blob WHERE sha = ?", shas)

    def has(self, sha: str | None) -> bool:
        """Say whether a content is kept."""
        query = "SELECT 1 FROM blob WHERE sha = ?"
        return self.db.execute(query, (sha,)).fetchone() is not None

    def is_whole(self, sha: str | None) -> bool:
        """Say whether a content is kept as it was, no value purged from it; so is None."""
        query = "SELECT 1 FROM blob WHERE sha = ? AND sha NOT IN (SELECT sha FROM masked)"
        return sha is None or self.db.execute(query, (sha,)).fetchone() is not None

    def content(self, sha: str | None) -> bytes | None:
        """Return a kept content; None for None. Raises KeyError where it was purged."""
        if sha is None:
            return None
        row = self.db.execute("SELECT data FROM blob WHERE sha = ?", (sha,)).fetchone()
        if row is None:
            raise KeyError(sha)
        return zlib.decompress(row[0])

    def heads(self, root: str) -> Mapping[str, str]:
        """Return the SHA-256 of every file of a root as it was last known."""
        rows = self.db.execute("SELECT path, sha FROM head WHERE root = ?", (root,))
        return {path_of(path): sha for path, sha in rows}

    def kept_heads(self, root: str) -> Mapping[str, str]:
        """Return what `heads` returns, with the masked content for one of which a value was
        purged.
        """
        query = "SELECT path, coalesce(masked, sha) FROM head WHERE root = ?"
        return {path_of(path): sha for path, sha in self.db.execute(query, (root,))}

    def set_head(self, root: str, path: str, sha: str | None) -> None:
        """Keep what a file is now known to hold."""
        if sha is None:
            self.db.execute(
                "DELETE FROM head WHERE root = ? AND path = ?", (root, stored_path(path))
            )
        else:
            self.db.execute(
                "INSERT OR REPLACE INTO head (root, path, sha) VALUES (?, ?, ?)",
                (root, stored_path(path), sha),
            )

    # acts

    def begin(
        self,
        root: str,
        at: str,
        kind: str,
        *,
        subject: str = "",
        author: Author = PERSON,
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
            (root, at, kind, stored_path(subject), *who, reason, state, undoes, token),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def add_ops(self, act: int, ops: Iterable[Op]) -> None:
        """Add what an act does; the contents must be kept already."""
        self.db.executemany(
            "INSERT INTO op VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    act,
                    n,
                    op.root,
                    stored_path(op.path),
                    op.pre,
                    op.post,
                    op.session,
                    op.from_root,
                    stored_path(op.from_path),
                    int(op.single),
                    op.mode,
                    op.outcome,
                    op.written,
                )
                for n, op in enumerate(ops)
            ),
        )

    def pages_to_finish(self, ops: int) -> int:
        """Return how many pages change, at most, when an act of so many `ops` is begun in earnest
        and finished: those of its row, and those of the heads, of which a page has eight or more.
        """
        heads = int(self.db.execute("SELECT count(*) FROM head").fetchone()[0])
        new, old = ops // _HEADS_PER_PAGE + 1, heads // _HEADS_PER_PAGE + 1
        return new + min(ops, old) + _PAGES_OF_ACT

    def set_state(self, act: int, state: str) -> None:
        """Set how far an act has got: prepared, reverting, done, refused."""
        self.db.execute("UPDATE act SET state = ? WHERE n = ?", (state, act))

    def set_outcome(self, act: int, n: int, outcome: str) -> None:
        """Set what became of one op."""
        self.db.execute("UPDATE op SET outcome = ? WHERE act = ? AND n = ?", (outcome, act, n))

    def unfinished(self) -> list[Act]:
        """Return the acts that were cut off, oldest first."""
        return self._acts("state IN ('prepared', 'reverting') ORDER BY n", ())

    def acts(self, root: str) -> list[Act]:
        """Return the acts that were carried out in a root, those too that began in another one and
        moved a file here, oldest first.
        """
        touches = "(root = ? OR n IN (SELECT act FROM op WHERE root = ?))"
        return self._acts(f"{touches} AND state = 'done' ORDER BY n", (root, root))

    def acts_by(self, root: str, role: AuthorRole) -> list[Act]:
        """Return the acts of one role that changed files of a root, and all that took an act back,
        oldest first.
        """
        whose = "(root = ? AND role = ? AND kind = ?)"
        where = f"state = 'done' AND ({whose} OR undoes IS NOT NULL) ORDER BY n"
        return self._acts(where, (root, role.value, CHANGE))

    def writings(self, root: str) -> list[tuple[str, str, str]]:
        """Return what users wrote to files of a root through Ricordo or accepted, oldest first: the
        path, the SHA-256 of the content, and when, ISO 8601.

        What only reverted something is left out, and what changes no statement: fixes, and links
        that follow a note that gets another path or leaves.
        """
        rows = self.db.execute(
            "SELECT op.path, op.post, act.at FROM op JOIN act ON act.n = op.act"
            " WHERE op.root = ? AND op.post IS NOT NULL AND op.outcome = ''"
            " AND act.kind = ? AND act.state = 'done' AND act.undoes IS NULL AND act.role <> ?"
            " AND NOT EXISTS (SELECT 1 FROM op AS it WHERE it.act = act.n AND it.post IS NULL)"
            " ORDER BY op.act, op.n",
            (root, CHANGE, AuthorRole.RULE.value),
        )
        return [(path_of(path), content, at) for path, content, at in rows]

    def acts_leading_to(self, sha: str | None) -> list[Act]:
        """Return the acts that led to a content, of whatever file, oldest first."""
        return self._acts("n IN (SELECT act FROM op WHERE post = ?) ORDER BY n", (sha,))

    def decisions(self, kinds: Sequence[str]) -> list[Act]:
        """Return the acts of those kinds, of every root, and all that took an act back, oldest
        first.
        """
        wanted = ", ".join("?" * len(kinds))
        where = f"state = 'done' AND (kind IN ({wanted}) OR undoes IS NOT NULL) ORDER BY n"
        return self._acts(where, tuple(kinds))

    def was_recorded(self, root: str) -> bool:
        """Say whether all of a root was kept once."""
        query = "SELECT 1 FROM act WHERE root = ? AND kind = ? AND state = 'done'"
        return self.db.execute(query, (root, FIRST)).fetchone() is not None

    def act(self, n: int) -> Act | None:
        """Return one act."""
        found = self._acts("n = ?", (n,))
        return found[0] if found else None

    def ops(self, act: int) -> list[Op]:
        """Return what an act did, in the order of its ops."""
        return [op for _, _, op in self._ops("act = ?", (act,))]

    def ops_of_acts(self, root: str, after: int) -> list[tuple[int, int, Op]]:
        """Return the ops on files of a root in the acts after one, oldest first, each with the
        numbers of its act and of itself.
        """
        return self._ops("root = ? AND act > ?", (root, after))

    def ops_on(self, root: str, path: str) -> list[tuple[int, int, Op]]:
        """Return the ops on one file, oldest first, each with the numbers of its act and of
        itself.
        """
        return self._ops("root = ? AND path = ?", (root, stored_path(path)))

    def moves(self) -> list[tuple[int, Place, Place]]:
        """Return every move of a file, oldest first: its act, from where and to where."""
        rows = self.db.execute(
            "SELECT op.act, op.from_root, op.from_path, op.root, op.path FROM op"
            " JOIN act ON act.n = op.act WHERE op.from_path <> '' AND act.state = 'done'"
            " ORDER BY op.act, op.n"
        )
        return [
            (number, (from_root, path_of(origin)), (root, path_of(path)))
            for number, from_root, origin, root, path in rows
        ]

    def paths(self, root: str) -> set[str]:
        """Return every path of a root under which a file was ever seen."""
        rows = self.db.execute("SELECT DISTINCT path FROM op WHERE root = ?", (root,))
        return {path_of(path) for (path,) in rows}

    def size_of(self, sha: str | None) -> int | None:
        """Return how many bytes a kept content has; None for a file that is gone or was purged."""
        row = self.db.execute("SELECT size FROM blob WHERE sha = ?", (sha,)).fetchone()
        return int(row[0]) if row else None

    def keep_displaced(self, root: str, path: str, content: bytes, at: str) -> None:
        """Keep a content that somebody wrote and that is on no disk any more."""
        with transaction(self.db):
            sha = self.keep(content)
            act = self.begin(
                root, at, SEEN, author=Author(AuthorRole.OUTSIDE), reason="displaced while we wrote"
            )
            self.add_ops(act, [Op(root, path, None, sha, outcome="kept")])

    def add_conflict(self, root: str, path: str, base: str | None, content: bytes, at: str) -> None:
        """Record that a content that somebody made of `base`, by its SHA-256, left its file while
        we wrote and could not be merged into it.
        """
        with transaction(self.db):
            sha = self.keep(content)
            if any(
                op.outcome == "displaced" and op.post == sha for *_, op in self.ops_on(root, path)
            ):
                return
            reason = "written at the same moment as another change; not in the file"
            act = self.begin(root, at, SEEN, author=Author(AuthorRole.OUTSIDE), reason=reason)
            self.add_ops(act, [Op(root, path, base, sha, outcome="displaced")])

    def _ops(self, where: str, values: tuple[object, ...]) -> list[tuple[int, int, Op]]:
        rows = self.db.execute(f"SELECT {_OP} FROM op WHERE {where} ORDER BY act, n", values)
        return [(row[0], row[1], op_of(row[2:])) for row in rows]

    def _acts(self, where: str, values: tuple[object, ...]) -> list[Act]:
        rows = self.db.execute(
            "SELECT n, root, at, kind, subject, role, name, model, prompt_version, reason, state,"
            f" undoes, token FROM act WHERE {where}",
            values,
        )
        return [act_of(row) for row in rows]
