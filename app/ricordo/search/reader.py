"""Reading the index: the SQLite file that `store` writes. Standard library alone.

Of every note the index keeps its words as they are matched, folded and in their order, so that
what FTS5 finds can be weighed by our own measure without opening a file.
"""

from __future__ import annotations

import json
import os
import sqlite3

from ricordo.storage.foreign_file import read_plain_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

VERSION = 4
"""Of the tables below; an index of another version is built anew."""
COLUMN_WEIGHTS = (3.0, 2.0, 2.0, 1.0)
"""Of name, description, keywords and body (the design's: name x3, description, keywords x2)."""
_SPARE = 4
"""How many times as many notes are taken as are wanted, so that those that tie, or fit, are among
them. Where even these tie to the last, all are asked for.
"""
MOST_FORMS = 24
"""Words of one family, or with one beginning, that are looked for: the commonest ones. No stem of
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
    """A note as the index keeps it."""

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
        """The note's name as it is written."""
        day: str
        """ISO 8601; "" where nothing tells it."""
        series: str
        """What it shares with the notes that it is numbered with; "" where it is not numbered."""
        place: int
        """Its place in the series."""
        tells: int
        """1: it names a time; 2: it names a number; 3: both."""
        recalled: int
        """0 for logs, schemas and the like, which are searched and never recalled."""
        withheld: int
        """1 for what is never given to agents: credentials, orders from outside."""
        name: list[str]
        description: list[str]
        keywords: list[str]
        body: list[str]


class Totals:
    """Figures of a whole memory, against which words are weighed."""

    __slots__ = ("chunks", "notes", "words")

    def __init__(self, notes: int, words: int, chunks: int) -> None:
        """`words` counts those of all bodies; `chunks` the pieces into which they are cut."""
        self.notes = notes
        self.words = words
        self.chunks = chunks


class Reader:
    """Answers from one index. Every method raises sqlite3.Error where the file is damaged."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """`connection` is to an index of this `VERSION`."""
        self.connection = connection

    def totals(self) -> Totals:
        """Return the figures of the memory."""
        facts = dict(self.connection.execute("SELECT name, value FROM fact"))
        return Totals(facts.get("notes", 0), facts.get("words", 0), facts.get("chunks", 0))

    def family(self, stem: str) -> list[tuple[str, int]]:
        """Return the words that have `stem`, commonest first, and in how many notes each stands."""
        return self._words("stem = ?", stem)

    def beginning_with(self, start: str) -> list[tuple[str, int]]:
        """Return the words that begin with `start`, as `family` does."""
        return self._words("word >= ? AND word < ?", start, start + "\U0010ffff")

    def holding(self, part: str) -> list[tuple[str, int]]:
        """Return the words in which `part` stands anywhere, as `family` does; all are looked at."""
        return self._words("instr(word, ?)", part)

    def _words(self, which: str, *values: str) -> list[tuple[str, int]]:
        sql = f"SELECT word, notes FROM word WHERE {which} AND notes > 0 ORDER BY notes DESC, word"
        return self.connection.execute(f"{sql} LIMIT {MOST_FORMS}", values).fetchall()

    def of_length(self, letters: int) -> list[str]:
        """Return the words of so many letters that any note has."""
        sql = "SELECT word FROM word WHERE notes > 0 AND length(word) = ?"
        return [row[0] for row in self.connection.execute(sql, (letters,))]

    def matching(self, match: str, most: int) -> list[int]:
        """Return the ids of the notes that fit the FTS5 expression `match`, best first by its own
        measure; which of equally good ones are the last is settled by their paths.
        """
        sql = f"{_MATCHING} ORDER BY score LIMIT ?"
        rows = self.connection.execute(sql, (match, most * _SPARE)).fetchall()
        if len(rows) <= most or rows[most - 1][1] != rows[most][1]:
            return [number for number, _ in rows[:most]]
        # numbers depend on the past of the index: of those that tie the paths are looked up
        last = rows[most][1]
        better = [number for number, score in rows if score < last]
        tied = [number for number, score in rows if score == last]
        are_all = len(rows) < most * _SPARE or len(better) + len(tied) < len(rows)
        by_path = self._by_path(tied) if are_all else self._scoring(match, last)
        return [*better, *by_path][:most]

    def newest_matching(self, match: str, most: int) -> list[int]:
        """Return what `matching` does for an expression that a good part of all notes fit, without
        weighing them all: those of the last days.
        """
        newest = "SELECT id FROM note ORDER BY day DESC, path LIMIT ?"
        ids = [row[0] for row in self.connection.execute(newest, (most * _SPARE,))]
        marks = ", ".join("?" * len(ids))
        sql = f"SELECT rowid FROM text WHERE text MATCH ? AND rowid IN ({marks})"
        fitting = {row[0] for row in self.connection.execute(sql, (match, *ids))}
        found = [it for it in ids if it in fitting]
        return found[:most] if len(found) >= most else self.matching(match, most)

    def _by_path(self, ids: Collection[int]) -> list[int]:
        marks = ", ".join("?" * len(ids))
        sql = f"SELECT id FROM note WHERE id IN ({marks}) ORDER BY path"
        return [row[0] for row in self.connection.execute(sql, tuple(ids))]

    def _scoring(self, match: str, score: float) -> list[int]:
        sql = f"SELECT number FROM ({_MATCHING}) CROSS JOIN note ON id = number"
        found = self.connection.execute(f"{sql} WHERE score = ? ORDER BY path", (match, score))
        return [row[0] for row in found]

    def all_matching(self, match: str) -> Iterator[tuple[int, bytes]]:
        """Yield id and path of every note that fits the FTS5 expression `match`, in the order of
        `matching`.
        """
        yield from self.connection.execute(
            f"SELECT note.id, note.path FROM text JOIN note ON note.id = text.rowid "
            f"WHERE text MATCH ? ORDER BY bm25(text, {', '.join(map(str, COLUMN_WEIGHTS))})",
            (match,),
        )

    def count_beside(self, match: str, paths: Collection[bytes]) -> int:
        """Return how many notes fit the FTS5 expression `match`, those at `paths` not counted."""
        marks = ", ".join("?" * len(paths))
        sql = (
            "SELECT count(*) FROM text WHERE text MATCH ? "
            f"AND rowid NOT IN (SELECT id FROM note WHERE path IN ({marks}))"
        )
        return int(self.connection.execute(sql, (match, *paths)).fetchone()[0])

    def rows(self, ids: Collection[int]) -> Iterator[IndexedNote]:
        """Yield the notes with these `ids`."""
        marks = ", ".join("?" * len(ids))
        for row in self.connection.execute(f"{_NOTE} WHERE id IN ({marks})", tuple(ids)):
            yield IndexedNote(row)

    def file_facts(self, number: int) -> tuple[int, int]:
        """Return size and time of the last change (ns) of the file that note `number` was read
        from; the time is 0 where a later change might not show in it.
        """
        sql = "SELECT size, changed_ns FROM note WHERE id = ?"
        size, changed_ns = self.connection.execute(sql, (number,)).fetchone()
        return int(size), int(changed_ns)

    def around(self, rows: Iterable[IndexedNote], reach: int) -> set[int]:
        """Return the ids of the notes that stand at most `reach` places from one of `rows` in its
        series.
        """
        wanted = {
            (row.series, row.place + step)
            for row in rows
            if row.series
            for step in range(-reach, reach + 1)
        }
        if not wanted:
            return set()
        # one question for all of them: as many small ones take five to ten times as long
        sql = (
            f"WITH wanted (series, place) AS (VALUES {', '.join(['(?, ?)'] * len(wanted))}) "
            "SELECT id FROM wanted CROSS JOIN note USING (series, place)"
        )
        values = [value for at in wanted for value in at]
        return {found[0] for found in self.connection.execute(sql, values)}

    def withheld(self) -> frozenset[bytes]:
        """Return the paths of the notes that are never given to agents."""
        rows = self.connection.execute("SELECT path FROM note WHERE withheld")
        return frozenset(path for (path,) in rows)

    def links(self, ids: Collection[int]) -> list[tuple[int, int]]:
        """Return the links between notes, source and target, with one end among `ids`."""
        marks = ", ".join("?" * len(ids))
        sql = f"SELECT source, target FROM link WHERE source IN ({marks}) OR target IN ({marks})"
        return self.connection.execute(sql, (*ids, *ids)).fetchall()


FOLDER = "recall"
"""Of the state directory: indexes and catalogue."""
FILE = "memories.json"
MOST = 500
"""Memories that are kept, those last written; another one comes back when it is opened."""
_LARGEST = 1024 * 1024


def read_catalogue(state: str) -> dict[str, dict[str, Any]]:
    """Return what is known of each memory, by its root; nothing where that cannot be read."""
    raw = read_plain_file(os.path.join(state, FOLDER, FILE), _LARGEST, follow=True)
    try:
        known = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {root: it for root, it in known.items() if isinstance(it, dict)}
