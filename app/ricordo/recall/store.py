"""Writing the index: making its tables, and bringing its rows in line with a memory."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

from ricordo.garbage import no_garbage_collection
from ricordo.memory.layout import Role
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads, Names, Resolved
from ricordo.memory.note import Note
from ricordo.recall.reader import VERSION
from ricordo.recall.record import (
    NOTHING_WITHHELD,
    Record,
    Withholding,
    changed_ns,
    record_of,
    stamp_of,
)
from ricordo.recall.stem import stem

Progress = Callable[[int, int], None]
"""Is told how many notes are done, and of how many."""

_SCHEMA = (
    """
    CREATE TABLE note (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE,
        stamp TEXT NOT NULL,
        size INTEGER NOT NULL,
        changed_ns INTEGER NOT NULL,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        type TEXT NOT NULL,
        day TEXT NOT NULL,
        series TEXT NOT NULL,
        place INTEGER NOT NULL,
        tells INTEGER NOT NULL,
        recalled INTEGER NOT NULL,
        withheld INTEGER NOT NULL,
        words INTEGER NOT NULL,
        chunks INTEGER NOT NULL,
        name TEXT NOT NULL,
        description TEXT NOT NULL,
        keywords TEXT NOT NULL,
        body TEXT NOT NULL
    )
    """,
    "CREATE INDEX note_by_series ON note (series, place)",
    "CREATE INDEX note_by_day ON note (day DESC, path)",
    # words come in folded, with blanks between them: the tokenizer has nothing left to decide
    "CREATE VIRTUAL TABLE text USING fts5 (name, description, keywords, body, "
    "content = 'note', content_rowid = 'id', tokenize = 'ascii')",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab (text, row)",
    "CREATE TABLE word (word TEXT PRIMARY KEY, stem TEXT NOT NULL, notes INTEGER NOT NULL) "
    "WITHOUT ROWID",
    "CREATE INDEX word_by_stem ON word (stem)",
    "CREATE TABLE link (source INTEGER, target INTEGER, PRIMARY KEY (source, target)) "
    "WITHOUT ROWID",
    "CREATE INDEX link_by_target ON link (target)",
    "CREATE TABLE fact (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    # by default FTS5 writes a segment for every megabyte, and merges them again and again
    f"INSERT INTO text (text, rank) VALUES ('hashsize', {64 << 20})",
    f"PRAGMA user_version = {VERSION}",
)
_FIELDS = ", ".join(Record._fields)
_TEXTS = "name, description, keywords, body"
_PUT = f"INSERT OR REPLACE INTO note (id, {_FIELDS}) VALUES (?{', ?' * len(Record._fields)})"
_AT_ONCE = 250
"""Notes that are written between two words on how far it is."""


class _Kept(NamedTuple):
    """What a row was made from, as far as it tells whether it still holds."""

    number: int
    stamp: str
    size: int
    changed_ns: int


class Store:
    """Keeps the tables of one connection in line with a memory. Nobody else may write them."""

    def __init__(
        self, connection: sqlite3.Connection, withholding: Withholding = NOTHING_WITHHELD
    ) -> None:
        """`connection` is in autocommit mode, and has the tables. Raises sqlite3.Error."""
        self.connection = connection
        self._withholding = withholding
        rows = connection.execute("SELECT path, id, stamp, size, changed_ns FROM note")
        self._kept = {path: _Kept(*rest) for path, *rest in rows}
        self._seen: dict[str, tuple[Note, tuple[Resolved, ...]]] = {}
        """What the rows were last made from: whatever is the same object needs no second look."""
        self._names: Names | None = None
        """By which links in heads were last followed."""
        self._memory: Memory | None = None
        self._comparison: tuple[Memory, Mapping[str, Note], list[Note]] | None = None
        """Of the memory that was last asked for: what `_compared` gives."""

    def bring_up(self, memory: Memory, progress: Progress | None = None) -> bool:
        """Make the rows those of `memory`, in one transaction; say whether anything was written.
        Raises sqlite3.Error.
        """
        here, touched = self._compared(memory)
        changed = self._changed(memory, touched)
        gone = self._gone(here)
        if changed or gone:
            with self._transaction():
                self._write(memory, changed, gone, progress)
        self._see(memory, touched, here)
        return bool(changed or gone)

    def take_for_granted(self, memory: Memory) -> None:
        """Believe that the rows are those of `memory`."""
        here = {note.path: note for note in indexed(memory)}
        self._see(memory, here.values(), here)

    def _see(self, memory: Memory, touched: Iterable[Note], here: Mapping[str, Note]) -> None:
        # in place: among 100,000 notes a second such table for every change would be felt
        links = memory.links
        self._seen.update((it.path, (it, links.get(it.path, ()))) for it in touched)
        for path in self._seen.keys() - here.keys():
            del self._seen[path]
        self._memory, self._names, self._comparison = memory, memory.names, None

    def fits(self, memory: Memory) -> bool:
        """Say whether the rows are surely those of `memory`; nothing is read or hashed for that."""
        if memory is self._memory:
            return True
        here, touched = self._compared(memory)
        return not touched and here.keys() == self._seen.keys()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        before = self._kept.copy()
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            self._kept = before
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def _changed(self, memory: Memory, touched: Iterable[Note]) -> list[tuple[Note, str]]:
        """Those of the `touched` notes whose rows are not theirs, with their stamps."""
        changed = []
        for note in touched:
            stamp = stamp_of(note, targets(memory, note), self._withholding)
            kept = self._kept.get(os.fsencode(note.path))
            if kept is None or kept[1:] != (stamp, note.facts.size, changed_ns(note)):
                changed.append((note, stamp))
        return changed

    def _compared(self, memory: Memory) -> tuple[Mapping[str, Note], list[Note]]:
        """The notes of `memory` by path, and those that are not what the rows were made from."""
        if self._comparison is None or self._comparison[0] is not memory:
            here = {note.path: note for note in indexed(memory)}
            self._comparison = memory, here, list(self._touched(memory, here))
        return self._comparison[1:]

    def _touched(self, memory: Memory, here: Mapping[str, Note]) -> Iterator[Note]:
        links, nothing = memory.links, ()
        # what a head names is followed only here: it may lead elsewhere although nothing in the
        # note has changed
        renamed = memory.names is not self._names
        for path, note in here.items():
            before = self._seen.get(path)
            if not (before and before[0] is note and before[1] is links.get(path, nothing)) or (
                renamed and note.head.fields and memory.head_items(note)
            ):
                yield note

    def _gone(self, here: Mapping[str, Note]) -> set[bytes]:
        """The paths of the rows whose notes are no longer there."""
        if self._seen:
            return {os.fsencode(path) for path in self._seen.keys() - here.keys()}
        return self._kept.keys() - {os.fsencode(path) for path in here}

    def _write(
        self,
        memory: Memory,
        changed: Sequence[tuple[Note, str]],
        gone: Iterable[bytes],
        progress: Progress | None,
    ) -> None:
        is_new = not self._kept
        counts: Counter[str] = Counter()
        totals = Counter(notes=0, words=0, chunks=0)
        for path in gone:
            self._remove(path, counts, totals)
        waiting = iter(changed)
        done = 0
        while batch := [record_of(*it, self._withholding) for it in islice(waiting, _AT_ONCE)]:
            self._replace(batch, counts, totals)
            if not is_new:
                counts.update(word for record in batch for word in _distinct(record[-4:]))
            done += len(batch)
            if progress:
                progress(done, len(changed))
        self._count(self._vocabulary() if is_new else counts)
        self._link(memory, [note for note, _ in changed])
        self._total(totals)

    def _replace(self, batch: Sequence[Record], counts: Counter[str], totals: Counter[str]) -> None:
        numbered = []
        new = any(record.path not in self._kept for record in batch)
        free = max((kept.number for kept in self._kept.values()), default=0) if new else 0
        for record in batch:
            before = self._kept.get(record.path)
            if before:
                self._remove(record.path, counts, totals, for_good=False)
            else:
                free += 1
            number = before.number if before else free
            self._kept[record.path] = _Kept(number, record.stamp, record.size, record.changed_ns)
            totals.update({"notes": 1, "words": record.words, "chunks": record.chunks})
            numbered.append((number, record))
        self._put(numbered)

    def _remove(
        self, path: bytes, counts: Counter[str], totals: Counter[str], for_good: bool = True
    ) -> None:
        """Take a note out; one that is gone `for_good` with the links to it."""
        run = self.connection.execute
        number = self._kept[path].number
        row = run(f"SELECT words, chunks, {_TEXTS} FROM note WHERE id = ?", (number,)).fetchone()
        texts = row[2:]
        delete = f"INSERT INTO text (text, rowid, {_TEXTS}) VALUES ('delete', ?, ?, ?, ?, ?)"
        run(delete, (number, *texts))
        counts.subtract(_distinct(texts))
        totals.subtract({"notes": 1, "words": row[0], "chunks": row[1]})
        run("DELETE FROM link WHERE source = ?", (number,))
        if for_good:
            run("DELETE FROM link WHERE target = ?", (number,))
            run("DELETE FROM note WHERE id = ?", (number,))
            del self._kept[path]

    def _put(self, records: Sequence[tuple[int, Record]]) -> None:
        many = self.connection.executemany
        many(_PUT, ((number, *record) for number, record in records))
        many(
            f"INSERT INTO text (rowid, {_TEXTS}) VALUES (?, ?, ?, ?, ?)",
            ((number, *record[-4:]) for number, record in records),
        )

    def _vocabulary(self) -> Mapping[str, int]:
        """In how many notes each word stands, asked of FTS5: for a new index that is quicker."""
        return dict(self.connection.execute("SELECT term, doc FROM vocabulary"))

    def _count(self, counts: Mapping[str, int]) -> None:
        """Keep in how many notes each word stands, and its stem."""
        self.connection.executemany(
            "INSERT INTO word VALUES (?, ?, ?) "
            "ON CONFLICT (word) DO UPDATE SET notes = notes + excluded.notes",
            sorted((word, stem(word), count) for word, count in counts.items() if count),
        )

    def _link(self, memory: Memory, notes: Iterable[Note]) -> None:
        kept = self._kept
        found = {
            (kept[os.fsencode(note.path)].number, kept[path].number)
            for note in notes
            for path in map(os.fsencode, targets(memory, note))
            if path in kept
        }
        self.connection.executemany("INSERT INTO link VALUES (?, ?)", found)

    def _total(self, totals: Mapping[str, int]) -> None:
        self.connection.executemany(
            "INSERT INTO fact VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            totals.items(),
        )


def indexed(memory: Memory) -> list[Note]:
    """Return the files of `memory` that are found: all but its indexes."""
    return [file for file in memory.files if file.role is not Role.INDEX]


def targets(memory: Memory, note: Note) -> list[str]:
    """Return the paths of the notes to which `note` links, in its text or in its head, sorted."""
    linked = {it.path for it in memory.links.get(note.path, ()) if it.leads is Leads.NOTE}
    if note.head.fields:
        linked.update(memory.named_in_head(note))
    return sorted(linked - {note.path})


def fill(
    connection: sqlite3.Connection,
    memory: Memory,
    progress: Progress | None = None,
    withholding: Withholding = NOTHING_WITHHELD,
) -> Store:
    """Make a new index of `memory` in an empty database. Raises sqlite3.Error."""
    for statement in _SCHEMA:
        connection.execute(statement)
    store = Store(connection, withholding)
    with no_garbage_collection():
        store.bring_up(memory, progress)
    return store


def _distinct(texts: Iterable[str]) -> set[str]:
    return set(" ".join(texts).split())
