"""Writing the index: making its tables, and bringing its rows in line with a memory."""

from __future__ import annotations

import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from ricordo.background import no_garbage_collection
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads, Names, Resolved
from ricordo.memory.note import Note
from ricordo.search.lexical import CHUNK
from ricordo.search.reader import FOLDER, VERSION
from ricordo.search.usage import FILE, UsageStore
from ricordo.search.words import content_words, stem, words
from ricordo.storage.cache_file import remove_cache
from ricordo.storage.lock import state_lock
from ricordo.storage.state_file import open_database_to_read
from ricordo.text import encodable

_KEYWORD_FIELDS = ("keywords", "tags", "aliases")
_NUMBER = re.compile(r"(\d{1,9})(?=\D*$)")
_ISO_DAY = re.compile(r"(?:19|20)\d\d-\d\d-\d\d")
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
    """A note as the index keeps it; texts are words with blanks between them."""

    path: bytes
    stamp: str
    """Changes whenever anything else here does, but for `size` and `changed_ns`."""
    size: int
    changed_ns: int
    """By these two a process that does not read the note tells that it is still the same."""
    title: str
    """The note's name as it is written."""
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
    """Which notes are never given to agents, as whoever makes the index has it."""

    includes: Callable[[Note], bool]
    version: str
    """Changes whenever `includes` may say something else of a note."""


NOTHING_WITHHELD = Withholding(lambda note: False, "")


def stamp_of(note: Note, targets: Iterable[str], withholding: Withholding) -> str:
    """Return what changes whenever the record of `note`, which links to the notes at `targets`,
    would be another one.
    """
    seal = sha256(note.raw)
    for text in (note.path, note.name, day_of(note), withholding.version, *targets):
        seal.update(b"\0" + os.fsencode(text))
    return seal.hexdigest()


def record_of(note: Note, stamp: str, withholding: Withholding) -> Record:
    """Return what is kept of `note`."""
    name, body = words(note.name), words(note.body)
    # a longer note tells enough of what it is about; a short one may need those beside it
    series, place = series_of(note.path) if len(body) <= CHUNK else ("", 0)
    return Record(
        path=os.fsencode(note.path),
        stamp=stamp,
        size=note.facts.size,
        changed_ns=changed_ns(note),
        title=encodable(note.name),
        summary=encodable(note.description),
        type=encodable(note.type),
        day=day_of(note),
        series=encodable(series),
        place=place,
        tells=_tells(set(body)),
        recalled=int(note.role in (FileRole.NOTE, FileRole.SOURCE)),
        withheld=int(withholding.includes(note)),
        words=len(body),
        chunks=max(1, -(-len(body) // CHUNK)),
        name=" ".join(name),
        description=" ".join(words(note.description)),
        keywords=" ".join(_keywords(note, frozenset(name))),
        body=" ".join(body),
    )


def changed_ns(note: Note) -> int:
    """Return when the file of `note` last changed, as far as that tells a later change; else 0."""
    return note.facts.changed_ns if note.facts.settled else 0


def series_of(path: str) -> tuple[str, int]:
    """Return the series in which a numbered note stands and its number: notes of one folder whose
    names differ in their last number alone. ("", 0) for a note that is not numbered.
    """
    folder, slash, name = path.removesuffix(".md").rpartition("/")
    number = _NUMBER.search(name)
    if not number:
        return "", 0
    return f"{folder}{slash}{name[: number.start()]}#{name[number.end() :]}", int(number[1])


def day_of(note: Note) -> str:
    """Return the day of the last change of `note`, ISO 8601: that which it gives itself, else that
    of its file.
    """
    stamped = _ISO_DAY.match(note.stamped)
    if stamped:
        return stamped[0]
    try:
        return datetime.fromtimestamp(note.facts.modified).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _keywords(note: Note, named: frozenset[str]) -> list[str]:
    """What a head adds for finding, and the words of the path that the name does not have."""
    found = [word for word in words(note.path.removesuffix(".md")) if word not in named]
    for field in _KEYWORD_FIELDS:
        for text in note.head.texts(field) if field in note.head.fields else ():
            found += words(text)
    return found


def _tells(said: set[str]) -> int:
    return int(not _TIMES.isdisjoint(said)) + 2 * int(not _NUMBERS.isdisjoint(said))


PATIENCE = 10.0
"""Seconds for which another process may be making an index."""
_DRAFT = ".db.new"


def purge_usage(state: str, value: str, put_aside: Callable[[str], None], patience: float) -> int:
    """Drop every row on the use of notes, of all memories, that tells of `value`; return how many.
    Raises sqlite3.Error and OSError.
    """
    wanted = frozenset(content_words(words(value)))

    def tells(text: str) -> bool:
        # of a long value a search without results may have kept a part
        said = wanted.intersection(text.split())
        return value in text or (bool(said) and 2 * len(said) >= len(wanted))

    return UsageStore(state, "", patience, put_aside).forget(tells)


def purge_indexes(state: str, value: str) -> int:
    """Remove the indexes that hold `value`, or cannot be searched; return how many. They are made
    again from the notes. Raises OSError, StateUnusable and Busy.
    """
    folder = os.path.join(state, FOLDER)
    if not os.path.isdir(folder):
        return 0
    removed = 0
    with state_lock(folder, PATIENCE):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if _DRAFT in name:
                remove_cache(path)
            elif name.endswith(".db") and name != FILE and _may_hold(path, value):
                removed += 1
                remove_cache(path)
    return removed


def _may_hold(path: str, value: str) -> bool:
    """Say whether every word of `value` is part of a word of the index, which keeps those of texts
    that are gone, or a title or a path holds it.
    """
    folded = words(value)
    try:
        with closing(open_database_to_read(path)) as index:
            known = (
                index.execute("SELECT 1 FROM word WHERE instr(word, ?) LIMIT 1", (word,)).fetchone()
                for word in folded
            )
            if folded and all(known):
                return True
            texts = (value, os.fsencode(value))
            sql = "SELECT 1 FROM note WHERE instr(title || summary, ?) OR instr(path, ?) LIMIT 1"
            return index.execute(sql, texts).fetchone() is not None
    except (sqlite3.Error, UnicodeEncodeError):
        return True


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


class IndexStore:
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
    return [file for file in memory.files if file.role is not FileRole.INDEX]


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
) -> IndexStore:
    """Make a new index of `memory` in an empty database. Raises sqlite3.Error."""
    for statement in _SCHEMA:
        connection.execute(statement)
    store = IndexStore(connection, withholding)
    with no_garbage_collection():
        store.bring_up(memory, progress)
    return store


def _distinct(texts: Iterable[str]) -> set[str]:
    return set(" ".join(texts).split())
