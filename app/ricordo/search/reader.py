"""Read the index, the SQLite file that `store` writes. Standard library only.

The index stores the words of every note, folded and in order, so that FTS5's matches can be scored
by Ricordo's formula without opening a file.
"""

from __future__ import annotations

import json
import os
import sqlite3

from ricordo.search.meaning import Vector
from ricordo.storage.foreign_file import read_plain_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

VERSION = 6
"""The schema version; an index of another version is rebuilt."""
COLUMN_WEIGHTS = (3.0, 2.0, 2.0, 1.0)
"""Of name, description, keywords and body."""
_SPARE = 4
"""The factor by which more notes are fetched than wanted, to include those with equal scores. If
all of these tie, all ties are fetched.
"""
MOST_FORMS = 24
"""Words with one stem, or with one beginning, that are searched: the most common ones. No stem of
LoCoMo has more than six words.
"""

_NOTE = """
SELECT id, path, title, day, series, place, tells, recalled, withheld,
    name, description, keywords, body
FROM note
"""

_MATCHING = f"""
SELECT rowid AS number, bm25(text, {", ".join(map(str, COLUMN_WEIGHTS))}) AS score
FROM text WHERE text MATCH ?
"""


class IndexedNote:
    """A note as stored in the index."""

    __slots__ = (
        "body",
        "day",
        "description",
        "id",
        "keywords",
        "name",
        "path",
        "place",
        "recalled",
        "series",
        "tells",
        "title",
        "withheld",
    )

    def __init__(self, row: Sequence[object]) -> None:
        values = iter(row)
        for slot in (
            "id",
            "path",
            "title",
            "day",
            "series",
            "place",
            "tells",
            "recalled",
            "withheld",
        ):
            setattr(self, slot, next(values))
        for slot in ("name", "description", "keywords", "body"):
            setattr(self, slot, str(next(values)).split())

    if TYPE_CHECKING:
        id: int
        path: bytes
        """Relative to the memory, in the bytes of the file system."""
        title: str
        """The note's name as written."""
        day: str
        """ISO 8601; "" if unknown."""
        series: str
        """The common part of the names of a numbered series; "" if the note is not numbered."""
        place: int
        """Its number in the series."""
        tells: int
        """1: it contains a time; 2: it contains a number; 3: both."""
        recalled: int
        """0 for logs, schemas and the like, which are searched but never recalled."""
        withheld: int
        """1 for notes that agents never get: credentials, instructions from outside."""
        name: list[str]
        description: list[str]
        keywords: list[str]
        body: list[str]


class Totals:
    """Totals of a memory, for the weights of words."""

    __slots__ = ("chunks", "notes", "words")

    def __init__(self, notes: int, words: int, chunks: int) -> None:
        """Set the totals; `words` and `chunks` are those of all bodies."""
        self.notes = notes
        self.words = words
        self.chunks = chunks


class IndexReader:
    """Queries on one index. Every method raises sqlite3.Error if the file is damaged."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Use a `connection` to an index of this `VERSION`."""
        self.connection = connection

    def read_totals(self) -> Totals:
        """Return the totals of the memory."""
        facts = dict(self.connection.execute("SELECT name, value FROM fact"))
        return Totals(facts.get("notes", 0), facts.get("words", 0), facts.get("chunks", 0))

    def find_family(self, stem: str) -> list[tuple[str, int]]:
        """Return the words with this `stem`, most common first, with their numbers of notes."""
        return self._words("stem = ?", stem)

    def find_beginning_with(self, start: str) -> list[tuple[str, int]]:
        """Return the words that begin with `start`, as `find_family` does."""
        return self._words("word >= ? AND word < ?", start, start + "\U0010ffff")

    def find_containing(self, part: str) -> list[tuple[str, int]]:
        """Return the words that contain `part`, as `find_family` does; scans all words."""
        return self._words("instr(word, ?)", part)

    def _words(self, which: str, *values: str) -> list[tuple[str, int]]:
        sql = f"SELECT word, notes FROM word WHERE {which} AND notes > 0 ORDER BY notes DESC, word"
        return self.connection.execute(f"{sql} LIMIT {MOST_FORMS}", values).fetchall()

    def find_by_length(self, letters: int) -> list[str]:
        """Return the words with so many letters that any note contains."""
        sql = "SELECT word FROM word WHERE notes > 0 AND length(word) = ?"
        return [row[0] for row in self.connection.execute(sql, (letters,))]

    def find_matching(self, match: str, most: int) -> list[int]:
        """Return the ids of at most `most` notes that match the FTS5 expression `match`, best first
        by BM25; ties at the end are cut by path.
        """
        sql = f"{_MATCHING} ORDER BY score LIMIT ?"
        rows = self.connection.execute(sql, (match, most * _SPARE)).fetchall()
        if len(rows) <= most or rows[most - 1][1] != rows[most][1]:
            return [number for number, _ in rows[:most]]
        # ids depend on the history of the index, so ties are ordered by path
        last = rows[most][1]
        better = [number for number, score in rows if score < last]
        tied = [number for number, score in rows if score == last]
        are_all = len(rows) < most * _SPARE or len(better) + len(tied) < len(rows)
        by_path = self._by_path(tied) if are_all else self._scoring(match, last)
        return [*better, *by_path][:most]

    def find_newest_matching(self, match: str, most: int) -> list[int]:
        """Return the newest matches, for an expression that matches so many notes that scoring all
        takes too long; as `find_matching` if too few of the newest notes match.
        """
        newest = "SELECT id FROM note ORDER BY day DESC, path LIMIT ?"
        ids = [row[0] for row in self.connection.execute(newest, (most * _SPARE,))]
        marks = ", ".join("?" * len(ids))
        sql = f"SELECT rowid FROM text WHERE text MATCH ? AND rowid IN ({marks})"
        matches = {row[0] for row in self.connection.execute(sql, (match, *ids))}
        ordered = [number for number in ids if number in matches]
        return ordered[:most] if len(ordered) >= most else self.find_matching(match, most)

    def _by_path(self, ids: Collection[int]) -> list[int]:
        marks = ", ".join("?" * len(ids))
        sql = f"SELECT id FROM note WHERE id IN ({marks}) ORDER BY path"
        return [row[0] for row in self.connection.execute(sql, tuple(ids))]

    def _scoring(self, match: str, score: float) -> list[int]:
        sql = f"SELECT number FROM ({_MATCHING}) CROSS JOIN note ON id = number"
        rows = self.connection.execute(f"{sql} WHERE score = ? ORDER BY path", (match, score))
        return [row[0] for row in rows]

    def iterate_matching(self, match: str) -> Iterator[tuple[int, bytes]]:
        """Yield id and path of every note that matches the FTS5 expression `match`, best first."""
        yield from self.connection.execute(
            f"SELECT note.id, note.path FROM text JOIN note ON note.id = text.rowid "
            f"WHERE text MATCH ? ORDER BY bm25(text, {', '.join(map(str, COLUMN_WEIGHTS))})",
            (match,),
        )

    def count_beside(self, match: str, paths: Collection[bytes]) -> int:
        """Return how many notes match the FTS5 expression `match`, without those at `paths`."""
        marks = ", ".join("?" * len(paths))
        sql = (
            "SELECT count(*) FROM text WHERE text MATCH ? "
            f"AND rowid NOT IN (SELECT id FROM note WHERE path IN ({marks}))"
        )
        return int(self.connection.execute(sql, (match, *paths)).fetchone()[0])

    def read_rows(self, ids: Collection[int]) -> Iterator[IndexedNote]:
        """Yield the notes with these `ids`."""
        marks = ", ".join("?" * len(ids))
        for row in self.connection.execute(f"{_NOTE} WHERE id IN ({marks})", tuple(ids)):
            yield IndexedNote(row)

    def read_sketches(self) -> bytes:
        """Return the joined sketches of all vectors; the place of each is the id of its note."""
        blocks = dict(self.connection.execute("SELECT block, bits FROM sketch"))
        if not blocks:
            return b""
        empty = bytes(len(next(iter(blocks.values()))))
        return b"".join([blocks.get(number, empty) for number in range(max(blocks) + 1)])

    def read_vectors(self, ids: Collection[int]) -> dict[int, Vector]:
        """Return the vectors of those notes with these `ids` that have one."""
        marks = ", ".join("?" * len(ids))
        sql = f"SELECT id, numbers, length FROM vector WHERE id IN ({marks})"
        rows = self.connection.execute(sql, tuple(ids))
        return {number: Vector(numbers, length) for number, numbers, length in rows}

    def read_passages(self, paths: Collection[bytes]) -> dict[bytes, bytes]:
        """Return by path what `semantic` stored of those notes of which it stored anything."""
        marks = ", ".join("?" * len(paths))
        sql = f"SELECT path, vectors FROM note JOIN passages USING (id) WHERE path IN ({marks})"
        return dict(self.connection.execute(sql, tuple(paths)))

    def read_file_facts(self, number: int) -> tuple[int, int]:
        """Return size and change time (ns) of the file from which note `number` was read; the time
        is 0 if a later change might not have changed it.
        """
        sql = "SELECT size, changed_ns FROM note WHERE id = ?"
        size, changed_ns = self.connection.execute(sql, (number,)).fetchone()
        return int(size), int(changed_ns)

    def find_neighbours(self, rows: Iterable[IndexedNote], reach: int) -> set[int]:
        """Return the ids of the notes at most `reach` places from one of `rows` in its series."""
        wanted = {
            (row.series, row.place + step)
            for row in rows
            if row.series
            for step in range(-reach, reach + 1)
        }
        if not wanted:
            return set()
        # one query for all: many small ones take five to ten times as long
        sql = (
            f"WITH wanted (series, place) AS (VALUES {', '.join(['(?, ?)'] * len(wanted))}) "
            "SELECT id FROM wanted CROSS JOIN note USING (series, place)"
        )
        values = [value for at in wanted for value in at]
        return {row[0] for row in self.connection.execute(sql, values)}

    def list_withheld(self) -> frozenset[bytes]:
        """Return the paths of the notes that agents never get."""
        rows = self.connection.execute("SELECT path FROM note WHERE withheld")
        return frozenset(path for (path,) in rows)

    def read_links(self, ids: Collection[int]) -> list[tuple[int, int]]:
        """Return the links between notes, source and target, with one end among `ids`."""
        marks = ", ".join("?" * len(ids))
        sql = f"SELECT source, target FROM link WHERE source IN ({marks}) OR target IN ({marks})"
        return self.connection.execute(sql, (*ids, *ids)).fetchall()


FOLDER = "recall"
"""The folder of the state directory with indexes and catalogue."""
FILE = "memories.json"
MAX_MEMORIES = 500
"""Memories in the catalogue, the last written ones; others are added again when opened."""
_LARGEST = 1024 * 1024


def read_catalogue(state: str) -> dict[str, dict[str, Any]]:
    """Return the catalogue entries of the memories by root; empty if it cannot be read."""
    raw = read_plain_file(os.path.join(state, FOLDER, FILE), _LARGEST, follow=True)
    try:
        catalogue = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(catalogue, dict):
        return {}
    return {root: entry for root, entry in catalogue.items() if isinstance(entry, dict)}
