"""Which words a project is written in: one pass over its files, kept between runs.

Of each file the distinct words are kept as 32-bit checksums, in a cache of the state directory, and
a file is read again only when its size or its times are others. Two words may share a checksum:
then a word that is gone is taken for present, once in thousands of projects, and never the other
way round.
"""

from __future__ import annotations

import re
import sqlite3
import time
from array import array
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from zlib import crc32

from ricordo.errors import RicordoError
from ricordo.storage.cache_file import CacheFile
from ricordo.storage.lock import state_lock
from ricordo.storage.project_tree import LARGEST_FILE, ProjectTree, Stamp
from ricordo.storage.state_file import open_database, open_database_to_read

FOLDER = "projects"
MOST_BYTES = 512 * 1024 * 1024
MOST_SECONDS = 60.0
_PATIENCE = 5.0
"""Seconds for which another process may be writing the same cache."""
_VERSION = 1
_WORD = re.compile(rb"[A-Za-z0-9_$\x80-\xff]+(?:-[A-Za-z0-9_$\x80-\xff]+)*")
_LOOK_FOR_ZERO = 8192
_SCHEMA = """
CREATE TABLE file(
    path BLOB PRIMARY KEY, size INTEGER, modified INTEGER, changed INTEGER, words BLOB
)
"""


class ProjectWords:
    """The words of the files of one project."""

    def __init__(self, state: str, root: str) -> None:
        """`state` is our state directory; nothing is touched yet."""
        self._cache = CacheFile(state, FOLDER, root)
        self._files: dict[str, tuple[Stamp, array[int]]] = {}
        self._is_loaded = False
        self.remark = ""
        """What was not looked through; "" where all was."""

    def bring_up(self, tree: ProjectTree, step: Callable[[], None]) -> None:
        """Read what changed since the last time; `step` is called after each file."""
        if not self._is_loaded:
            self._is_loaded = True
            self._files = self._load()
        before = self._files
        self._files = self._read(tree, step)
        if self._files.keys() != before.keys() or any(
            before[path][0] != stamp for path, (stamp, _) in self._files.items()
        ):
            # a cache that cannot be kept is made again the next time
            with suppress(OSError, RicordoError, sqlite3.Error):
                self._keep(before)

    def among(self, words: Iterable[str], without: str = "") -> frozenset[str]:
        """Return those of the `words` that any file holds, or whose name or path does; files in the
        folder `without` do not count.
        """
        wanted = {crc32(word.encode("utf-8", "surrogateescape")): word for word in words}
        left, found = set(wanted), set[int]()
        for path, (_, held) in self._files.items():
            if not left:
                break
            if not (without and path.startswith(without)):
                here = left.intersection(held)
                found |= here
                left -= here
        return frozenset(wanted[number] for number in found)

    def files_with(self, word: str, most: int) -> list[str]:
        """Return up to `most` files that hold `word`, ordered by path."""
        number = crc32(word.encode("utf-8", "surrogateescape"))
        return sorted(path for path, (_, held) in self._files.items() if number in held)[:most]

    def _read(
        self, tree: ProjectTree, step: Callable[[], None]
    ) -> dict[str, tuple[Stamp, array[int]]]:
        files: dict[str, tuple[Stamp, array[int]]] = {}
        began, read, skipped = time.monotonic(), 0, 0
        for path, stamp in tree.files.items():
            kept = self._files.get(path)
            if kept is not None and kept[0] == stamp:
                files[path] = kept
                continue
            if read > MOST_BYTES or time.monotonic() - began > MOST_SECONDS:
                skipped += 1
                continue
            raw = tree.read(path) or b""
            read += len(raw)
            files[path] = (stamp, _words(path, raw))
            step()
        self.remark = f"{skipped:,} files of the project were not looked through" * bool(skipped)
        return files

    def _load(self) -> dict[str, tuple[Stamp, array[int]]]:
        if not self._cache.is_whole():
            return {}
        try:
            with closing(open_database_to_read(self._cache.path)) as kept:
                if kept.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                    return {}
                rows = kept.execute("SELECT * FROM file").fetchall()
        except (sqlite3.Error, OSError):
            return {}
        return {
            path.decode("utf-8", "surrogateescape"): (Stamp(*stamp), array("I", words))
            for path, *stamp, words in rows
        }

    def _keep(self, before: dict[str, tuple[Stamp, array[int]]]) -> None:
        """Write what is other than `before`, into a new file where there is none."""
        with state_lock(self._cache.folder, _PATIENCE):
            is_new = not before or not self._cache.is_whole()
            if is_new:
                self._cache.prepare()
            path = self._cache.draft if is_new else self._cache.path
            with closing(open_database(path, timeout=_PATIENCE)) as connection:
                self._write(connection, {} if is_new else before, is_new=is_new)
            if is_new:
                self._cache.publish()
            self._cache.seal()

    def _write(
        self,
        connection: sqlite3.Connection,
        before: dict[str, tuple[Stamp, array[int]]],
        *,
        is_new: bool,
    ) -> None:
        with connection:
            if is_new:
                connection.execute(_SCHEMA)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            gone = before.keys() - self._files.keys()
            connection.executemany("DELETE FROM file WHERE path = ?", ((_raw(p),) for p in gone))
            connection.executemany(
                "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?)",
                (
                    (_raw(path), *kept[0], kept[1].tobytes())
                    for path, kept in self._files.items()
                    if before.get(path) is not kept
                ),
            )


def _raw(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _words(path: str, raw: bytes) -> array[int]:
    """The checksums of the words of a file and of its path."""
    found = set(_WORD.findall(_raw(path)))
    if b"\0" not in raw[:_LOOK_FOR_ZERO]:
        found.update(_WORD.findall(raw[:LARGEST_FILE]))
    for dashed in [word for word in found if b"-" in word]:
        found.update(dashed.split(b"-"))
    return array("I", sorted(map(crc32, found)))
