"""Write the index: create its tables, and update its rows to a memory."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from hashlib import sha256
from itertools import groupby, islice
from typing import NamedTuple

from ricordo.background import pause_gc
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.names import Names, ResolvedLink, TargetKind
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.lexical import CHUNK
from ricordo.search.meaning import GIST, SKETCH_SIZE, TokenTable, make_sketch
from ricordo.search.reader import FOLDER, VERSION
from ricordo.search.usage import FILE, UsageStore
from ricordo.search.words import content_words, split_words, stem_word
from ricordo.storage.cache_file import remove_cache
from ricordo.storage.lock import state_lock
from ricordo.storage.state_file import open_database_to_read
from ricordo.text import make_encodable

MANY = 40
"""Notes from which on all tokens are read at once."""
SKETCHES = 512
"""Sketches of a block."""
_KEYWORD_FIELDS = ("keywords", "tags", "aliases")
_NUMBER = compile_lazily(r"(\d{1,9})(?=\D*$)")
_ISO_DAY = compile_lazily(r"(?:19|20)\d\d-\d\d-\d\d")
_TIME_WORDS = """
    yesterday today tonight tomorrow ago last next week weeks weekend month months year years
    day days morning evening night since recently monday tuesday wednesday thursday friday
    saturday sunday january february march april may june july august september october
    november december
"""
_TIMES = frozenset(_TIME_WORDS.split()) | {str(year) for year in range(1900, 2100)}
_NUMBER_WORDS = """
    one two three four five six seven eight nine ten dozen couple few several once twice
"""
_NUMBERS = frozenset(_NUMBER_WORDS.split()) | {str(number) for number in range(3000)}


class Record(NamedTuple):
    """A row of the index for a note; texts are words separated by blanks."""

    path: bytes
    stamp: str
    """Changes with every other field except `size` and `changed_ns`."""
    size: int
    changed_ns: int
    """With `size`, shows whether the note changed, without reading it."""
    title: str
    """The note's name as written."""
    summary: str
    type: str
    day: str
    series: str
    place: int
    tells: int
    recalled: int
    withheld: int
    words: int
    chunks: int
    name: str
    description: str
    keywords: str
    body: str


class Withholding(NamedTuple):
    """The notes that agents never get, as the caller defines them."""

    includes: Callable[[Note], bool]
    version: str
    """Changes whenever the result of `includes` for a note may change."""


NOTHING_WITHHELD = Withholding(lambda note: False, "")


def compute_stamp(note: Note, targets: Iterable[str], withholding: Withholding) -> str:
    """Return a hash of everything on which the record of `note` depends; it links to the notes at
    `targets`.
    """
    stamp = sha256(note.raw)
    for text in (note.path, note.name, find_day(note), withholding.version, *targets):
        stamp.update(b"\0" + os.fsencode(text))
    return stamp.hexdigest()


def build_record(note: Note, stamp: str, withholding: Withholding) -> Record:
    """Return the record of `note`."""
    name, body = split_words(note.name), split_words(note.body)
    # a longer note has enough words of its own; a short one may need its neighbours
    series, place = find_series(note.path) if len(body) <= CHUNK else ("", 0)
    return Record(
        path=os.fsencode(note.path),
        stamp=stamp,
        size=note.facts.size,
        changed_ns=get_changed_ns(note),
        title=make_encodable(note.name),
        summary=make_encodable(note.description),
        type=make_encodable(note.type),
        day=find_day(note),
        series=make_encodable(series),
        place=place,
        tells=_tells(set(body)),
        recalled=int(note.role in (FileRole.NOTE, FileRole.SOURCE)),
        withheld=int(withholding.includes(note)),
        words=len(body),
        chunks=max(1, -(-len(body) // CHUNK)),
        name=" ".join(name),
        description=" ".join(split_words(note.description)),
        keywords=" ".join(_keywords(note, frozenset(name))),
        body=" ".join(body),
    )


def list_gist(record: Record) -> list[str]:
    """Return the words by which the meaning of a note is measured: its name and description twice,
    and the beginning of its body.
    """
    stated = f"{record.name} {record.description}".split()
    return [*stated[:GIST], *stated[:GIST], *record.body.split(" ", GIST)[:GIST]]


def get_changed_ns(note: Note) -> int:
    """Return the change time of the file of `note`; 0 if a later change might not change it."""
    return note.facts.changed_ns if note.facts.is_settled else 0


def find_series(path: str) -> tuple[str, int]:
    """Return the series of a numbered note and its number; ("", 0) for a note without number. Notes
    of one folder whose names differ only in the last number are a series.
    """
    folder, slash, name = path.removesuffix(".md").rpartition("/")
    number = _NUMBER.search(name)
    if not number:
        return "", 0
    return f"{folder}{slash}{name[: number.start()]}#{name[number.end() :]}", int(number[1])


def find_day(note: Note) -> str:
    """Return the day of the last change of `note`, ISO 8601: from its frontmatter, else from its
    file; "" if neither is valid.
    """
    stated = _ISO_DAY.match(note.stated_date)
    if stated:
        return stated[0]
    try:
        return datetime.fromtimestamp(note.facts.modified).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _keywords(note: Note, named: frozenset[str]) -> list[str]:
    """Return the keywords of the frontmatter, and the words of the path that are not in `named`."""
    keywords = [word for word in split_words(note.path.removesuffix(".md")) if word not in named]
    for field in _KEYWORD_FIELDS:
        for text in note.frontmatter.get_list(field) if field in note.frontmatter.fields else ():
            keywords += split_words(text)
    return keywords


def _tells(body: set[str]) -> int:
    return int(not _TIMES.isdisjoint(body)) + 2 * int(not _NUMBERS.isdisjoint(body))


PATIENCE = 10.0
"""Seconds to wait for another process that builds an index."""
_DRAFT = ".db.new"


def purge_usage(state: str, value: str, put_aside: Callable[[str], None], patience: float) -> int:
    """Delete every usage record, of all memories, that contains `value`; return how many. Raises
    sqlite3.Error and OSError.
    """
    wanted = frozenset(content_words(split_words(value)))

    def mentions(text: str) -> bool:
        # a search without results may have recorded a part of a long value
        matched = wanted.intersection(text.split())
        return value in text or (bool(matched) and 2 * len(matched) >= len(wanted))

    return UsageStore(state, "", patience, put_aside).purge(mentions)


def purge_indexes(state: str, value: str) -> list[str]:
    """Remove the indexes that contain `value`, or cannot be searched; return their names. They are
    rebuilt from the notes. Raises OSError, StateUnusable and Busy.
    """
    folder = os.path.join(state, FOLDER)
    if not os.path.isdir(folder):
        return []
    removed: list[str] = []
    with state_lock(folder, PATIENCE):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if _DRAFT in name:
                remove_cache(path)
            elif name.endswith(".db") and name != FILE and _may_contain(path, value):
                removed.append(name)
                remove_cache(path)
    return removed


def _may_contain(path: str, value: str) -> bool:
    """Return whether every word of `value` is part of a word in the index, which also has words of
    deleted texts, or a title or a path contains it.
    """
    folded = split_words(value)
    try:
        with closing(open_database_to_read(path)) as index:
            matches = (
                index.execute("SELECT 1 FROM word WHERE instr(word, ?) LIMIT 1", (word,)).fetchone()
                for word in folded
            )
            if folded and all(matches):
                return True
            texts = (value, os.fsencode(value))
            sql = "SELECT 1 FROM note WHERE instr(title || summary, ?) OR instr(path, ?) LIMIT 1"
            return index.execute(sql, texts).fetchone() is not None
    except (sqlite3.Error, UnicodeEncodeError):
        return True


Progress = Callable[[int, int], None]
"""Called with the number of notes done and the total."""

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
    # texts are folded words separated by blanks, so any simple tokenizer works
    "CREATE VIRTUAL TABLE text USING fts5 (name, description, keywords, body, "
    "content = 'note', content_rowid = 'id', tokenize = 'ascii')",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab (text, row)",
    "CREATE TABLE word (word TEXT PRIMARY KEY, stem TEXT NOT NULL, notes INTEGER NOT NULL) "
    "WITHOUT ROWID",
    "CREATE INDEX word_by_stem ON word (stem)",
    "CREATE TABLE link (source INTEGER, target INTEGER, PRIMARY KEY (source, target)) "
    "WITHOUT ROWID",
    "CREATE INDEX link_by_target ON link (target)",
    "CREATE TABLE vector (id INTEGER PRIMARY KEY, numbers BLOB NOT NULL, length REAL NOT NULL)",
    # of the model of `semantic`, for notes that it has compared
    "CREATE TABLE passages (id INTEGER PRIMARY KEY, vectors BLOB NOT NULL)",
    # in blocks: reading a row for each note takes longer than comparing their bits
    "CREATE TABLE sketch (block INTEGER PRIMARY KEY, bits BLOB NOT NULL)",
    "CREATE TABLE fact (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    # by default FTS5 writes a segment for every megabyte, and merges them repeatedly
    f"INSERT INTO text (text, rank) VALUES ('hashsize', {64 << 20})",
    f"PRAGMA user_version = {VERSION}",
)
_FIELDS = ", ".join(Record._fields)
_TEXTS = "name, description, keywords, body"
_PUT = f"INSERT OR REPLACE INTO note (id, {_FIELDS}) VALUES (?{', ?' * len(Record._fields)})"
_BATCH = 250
"""Notes that are written between two progress reports."""


class _RowState(NamedTuple):
    """The part of a row that shows whether it is up to date."""

    number: int
    stamp: str
    size: int
    changed_ns: int


class IndexStore:
    """Updates the tables of one connection to a memory. No other code may write them."""

    def __init__(
        self, connection: sqlite3.Connection, withholding: Withholding = NOTHING_WITHHELD
    ) -> None:
        """Use a `connection` in autocommit mode with the tables. Raises sqlite3.Error."""
        self.connection = connection
        self._withholding = withholding
        rows = connection.execute("SELECT path, id, stamp, size, changed_ns FROM note")
        self._rows = {path: _RowState(*rest) for path, *rest in rows}
        self._sources: dict[str, tuple[Note, tuple[ResolvedLink, ...]]] = {}
        """The notes and links from which the rows were last made: the same object is unchanged."""
        self._names: Names | None = None
        """The names by which links in frontmatter were last resolved."""
        self._memory: Memory | None = None
        self._comparison: tuple[Memory, Mapping[str, Note], list[Note]] | None = None
        """The last memory that was compared, with the result of `_compare`."""

    def update(self, memory: Memory, progress: Progress | None = None) -> bool:
        """Update the rows to `memory` in one transaction; return whether anything was written.
        Raises sqlite3.Error.
        """
        notes, touched = self._compare(memory)
        changed = self._find_changed(memory, touched)
        deleted = self._find_deleted(notes)
        if changed or deleted:
            with self._transaction():
                self._write(memory, changed, deleted, progress)
        self._remember(memory, touched, notes)
        return bool(changed or deleted)

    def assume_current(self, memory: Memory) -> None:
        """Assume without checking that the rows are those of `memory`."""
        notes = {note.path: note for note in list_indexed(memory)}
        self._remember(memory, notes.values(), notes)

    def _remember(self, memory: Memory, touched: Iterable[Note], notes: Mapping[str, Note]) -> None:
        # in place: with 100,000 notes copying this table for every change is too slow
        links = memory.links
        self._sources.update((note.path, (note, links.get(note.path, ()))) for note in touched)
        for path in self._sources.keys() - notes.keys():
            del self._sources[path]
        self._memory, self._names, self._comparison = memory, memory.names, None

    def is_current(self, memory: Memory) -> bool:
        """Return whether the rows are surely those of `memory`, without reading or hashing."""
        if memory is self._memory:
            return True
        notes, touched = self._compare(memory)
        return not touched and notes.keys() == self._sources.keys()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        before = self._rows.copy()
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            self._rows = before
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def _find_changed(self, memory: Memory, touched: Iterable[Note]) -> list[tuple[Note, str]]:
        """Return those of the `touched` notes with outdated rows, with their stamps."""
        changed = []
        for note in touched:
            stamp = compute_stamp(note, list_targets(memory, note), self._withholding)
            row = self._rows.get(os.fsencode(note.path))
            if row is None or row[1:] != (stamp, note.facts.size, get_changed_ns(note)):
                changed.append((note, stamp))
        return changed

    def _compare(self, memory: Memory) -> tuple[Mapping[str, Note], list[Note]]:
        """Return the notes of `memory` by path, and those that the rows were not made from."""
        if self._comparison is None or self._comparison[0] is not memory:
            notes = {note.path: note for note in list_indexed(memory)}
            self._comparison = memory, notes, list(self._find_touched(memory, notes))
        return self._comparison[1:]

    def _find_touched(self, memory: Memory, notes: Mapping[str, Note]) -> Iterator[Note]:
        links, no_links = memory.links, ()
        # links in frontmatter are not in `links`: their targets may change with the names alone
        renamed = memory.names is not self._names
        for path, note in notes.items():
            before = self._sources.get(path)
            if not (before and before[0] is note and before[1] is links.get(path, no_links)) or (
                renamed and note.frontmatter.fields and memory.resolve_frontmatter_links(note)
            ):
                yield note

    def _find_deleted(self, notes: Mapping[str, Note]) -> set[bytes]:
        """Return the paths of the rows whose notes do not exist any more."""
        if self._sources:
            return {os.fsencode(path) for path in self._sources.keys() - notes.keys()}
        return self._rows.keys() - {os.fsencode(path) for path in notes}

    def _write(
        self,
        memory: Memory,
        changed: Sequence[tuple[Note, str]],
        deleted: Iterable[bytes],
        progress: Progress | None,
    ) -> None:
        is_new = not self._rows
        counts: Counter[str] = Counter()
        totals = Counter(notes=0, words=0, chunks=0)
        for path in deleted:
            self._remove(path, counts, totals)
        pending = iter(changed)
        done = 0
        with closing(TokenTable()) as table:
            if len(changed) >= MANY:
                table.load()
            while batch := [
                build_record(*pair, self._withholding) for pair in islice(pending, _BATCH)
            ]:
                self._replace(batch, counts, totals, table)
                if not is_new:
                    counts.update(word for record in batch for word in _distinct(record[-4:]))
                done += len(batch)
                if progress:
                    progress(done, len(changed))
        self._add_counts(self._count_words() if is_new else counts)
        self._add_links(memory, [note for note, _ in changed])
        self._add_totals(totals)

    def _replace(
        self,
        batch: Sequence[Record],
        counts: Counter[str],
        totals: Counter[str],
        table: TokenTable,
    ) -> None:
        numbered = []
        has_new = any(record.path not in self._rows for record in batch)
        last_number = max((row.number for row in self._rows.values()), default=0) if has_new else 0
        for record in batch:
            before = self._rows.get(record.path)
            if before:
                self._remove(record.path, counts, totals, for_good=False)
            else:
                last_number += 1
            number = before.number if before else last_number
            row = _RowState(number, record.stamp, record.size, record.changed_ns)
            self._rows[record.path] = row
            totals.update({"notes": 1, "words": record.words, "chunks": record.chunks})
            numbered.append((number, record))
        self._put(numbered)
        self._put_vectors(numbered, table)

    def _remove(
        self, path: bytes, counts: Counter[str], totals: Counter[str], for_good: bool = True
    ) -> None:
        """Remove a note's row; with `for_good`, also the links to it."""
        run = self.connection.execute
        number = self._rows[path].number
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
            run("DELETE FROM vector WHERE id = ?", (number,))
            run("DELETE FROM passages WHERE id = ?", (number,))
            del self._rows[path]

    def _put(self, records: Sequence[tuple[int, Record]]) -> None:
        many = self.connection.executemany
        many(_PUT, ((number, *record) for number, record in records))
        many(
            f"INSERT INTO text (rowid, {_TEXTS}) VALUES (?, ?, ?, ?, ?)",
            ((number, *record[-4:]) for number, record in records),
        )

    def put_passages(self, passages: Mapping[bytes, bytes]) -> None:
        """Write the vectors of `semantic`, by the paths of the notes."""
        rows = [
            (self._rows[path].number, vectors)
            for path, vectors in passages.items()
            if path in self._rows
        ]
        with self._transaction():
            self.connection.executemany("INSERT OR REPLACE INTO passages VALUES (?, ?)", rows)

    def _put_vectors(self, records: Sequence[tuple[int, Record]], table: TokenTable) -> None:
        """Write what the notes are about, as vectors and in the blocks of sketches."""
        vectors = {number: table.embed(list_gist(record)) for number, record in records}
        run, many = self.connection.execute, self.connection.executemany
        for name in ("vector", "passages"):
            many(f"DELETE FROM {name} WHERE id = ?", ((number,) for number in vectors))
        many(
            "INSERT INTO vector VALUES (?, ?, ?)",
            ((number, it.blob, it.length) for number, it in vectors.items() if it),
        )
        for block, members in groupby(sorted(vectors), lambda number: number // SKETCHES):
            row = run("SELECT bits FROM sketch WHERE block = ?", (block,)).fetchone()
            bits = bytearray(row[0] if row else SKETCHES * SKETCH_SIZE)
            for number in members:
                at = number % SKETCHES * SKETCH_SIZE
                bits[at : at + SKETCH_SIZE] = make_sketch(vectors[number])
            run("INSERT OR REPLACE INTO sketch VALUES (?, ?)", (block, bits))

    def _count_words(self) -> Mapping[str, int]:
        """Return each word's number of notes from FTS5, which is faster for a new index."""
        return dict(self.connection.execute("SELECT term, doc FROM vocabulary"))

    def _add_counts(self, counts: Mapping[str, int]) -> None:
        """Add to each word's number of notes; insert new words with their stems."""
        self.connection.executemany(
            "INSERT INTO word VALUES (?, ?, ?) "
            "ON CONFLICT (word) DO UPDATE SET notes = notes + excluded.notes",
            sorted((word, stem_word(word), count) for word, count in counts.items() if count),
        )

    def _add_links(self, memory: Memory, notes: Iterable[Note]) -> None:
        rows = self._rows
        links = {
            (rows[os.fsencode(note.path)].number, rows[path].number)
            for note in notes
            for path in map(os.fsencode, list_targets(memory, note))
            if path in rows
        }
        self.connection.executemany("INSERT INTO link VALUES (?, ?)", links)

    def _add_totals(self, totals: Mapping[str, int]) -> None:
        self.connection.executemany(
            "INSERT INTO fact VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            totals.items(),
        )


def list_indexed(memory: Memory) -> list[Note]:
    """Return the files of `memory` that are searched: all but its indexes."""
    return [file for file in memory.files if file.role is not FileRole.INDEX]


def list_targets(memory: Memory, note: Note) -> list[str]:
    """Return the sorted paths of the notes to which `note` links in its text or frontmatter."""
    links = memory.links.get(note.path, ())
    linked = {link.path for link in links if link.target_kind is TargetKind.NOTE}
    if note.frontmatter.fields:
        linked.update(memory.named_in_frontmatter(note))
    return sorted(linked - {note.path})


def build_index(
    connection: sqlite3.Connection,
    memory: Memory,
    progress: Progress | None = None,
    withholding: Withholding = NOTHING_WITHHELD,
) -> IndexStore:
    """Build an index of `memory` in an empty database. Raises sqlite3.Error."""
    for statement in _SCHEMA:
        connection.execute(statement)
    store = IndexStore(connection, withholding)
    with pause_gc():
        store.update(memory, progress)
    return store


def _distinct(texts: Iterable[str]) -> set[str]:
    return set(" ".join(texts).split())
