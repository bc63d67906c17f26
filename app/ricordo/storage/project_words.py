"""The words in the files of a project, collected in one pass and cached between runs.

A cache in the state directory stores the distinct words of each file as 32-bit checksums, and a
file is read again only if its size or times changed. Two words may share a checksum: then a missing
word counts as present, once in thousands of projects, and never the other way round.
"""

from __future__ import annotations

import sqlite3
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from zlib import crc32

from ricordo.errors import RicordoError
from ricordo.patterns import compile_lazily
from ricordo.storage.cache_file import CacheFile
from ricordo.storage.lock import state_lock
from ricordo.storage.project_tree import LARGEST_FILE, FileStamp, ProjectTree, is_downloaded
from ricordo.storage.state_file import open_database, open_database_to_read

FOLDER = "projects"
MOST_BYTES = 512 * 1024 * 1024
MOST_SECONDS = 60.0
_PATIENCE = 5.0
"""Seconds for which another process may be writing the same cache."""
_VERSION = 3
_WORD = compile_lazily(rb"[A-Za-z0-9_$\x80-\xff]+(?:-[A-Za-z0-9_$\x80-\xff]+)*")
_JOINT = compile_lazily(rb"[-$]")
_OTHER_SCRIPT = compile_lazily(rb"-*[\x80-\xff]+-*")
"""Other scripts put no blank beside a name."""
_BINARY_CHECK_BYTES = 8192
_LOOK_UPS = 32
"""Words of a file that are compared in the time in which one is looked up, about."""
_SCHEMA = """
CREATE TABLE file(
    path BLOB PRIMARY KEY, size INTEGER, modified INTEGER, changed INTEGER, words BLOB
)
"""


class ProjectWords:
    """The words of the files of one project."""

    def __init__(self, state: str, root: str) -> None:
        """Set the state directory and the project; opens nothing."""
        self._cache = CacheFile(state, FOLDER, root)
        self._files: dict[str, tuple[FileStamp, array[int]]] = {}
        self._is_loaded = False
        self.warning = ""
        """What was not read; "" if all was."""

    def update(self, tree: ProjectTree, step: Callable[[], None]) -> None:
        """Read the files that changed since the last time; `step` is called after each file."""
        if not self._is_loaded:
            self._is_loaded = True
            self._files = self._load()
        before = self._files
        self._files = self._read(tree, step)
        if self._files.keys() != before.keys() or any(
            before[path][0] != stamp for path, (stamp, _) in self._files.items()
        ):
            # a cache that cannot be saved is rebuilt the next time
            with suppress(OSError, RicordoError, sqlite3.Error):
                self._save(before)

    def find_present(
        self, words: Iterable[str], is_left_out: Callable[[str], bool] = lambda _: False
    ) -> frozenset[str]:
        """Return those of the `words` that occur in any file or path, except files that are left
        out.
        """
        wanted = {crc32(word.encode("utf-8", "surrogateescape")): word for word in words}
        missing, present = set(wanted), set[int]()
        for path, (_, checksums) in self._files.items():
            if not missing:
                break
            if not is_left_out(path):
                # a few words are looked up sooner than all of the file are compared
                is_few = len(missing) * _LOOK_UPS < len(checksums)
                in_file = (
                    {it for it in missing if _is_in(it, checksums)}
                    if is_few
                    else missing.intersection(checksums)
                )
                present |= in_file
                missing -= in_file
        return frozenset(wanted[checksum] for checksum in present)

    def find_files(self, word: str, most: int) -> list[str]:
        """Return up to `most` files that contain `word` and are not the code of others, ordered by
        path.
        """
        checksum = crc32(word.encode("utf-8", "surrogateescape"))
        paths = (path for path, (_, sums) in self._files.items() if _is_in(checksum, sums))
        return sorted(it for it in paths if not is_downloaded(it))[:most]

    def _read(
        self, tree: ProjectTree, step: Callable[[], None]
    ) -> dict[str, tuple[FileStamp, array[int]]]:
        files: dict[str, tuple[FileStamp, array[int]]] = {}
        began, read, skipped = time.monotonic(), 0, 0
        for path, stamp in tree.files.items():
            cached = self._files.get(path)
            if cached is not None and cached[0] == stamp:
                files[path] = cached
                continue
            if read > MOST_BYTES or time.monotonic() - began > MOST_SECONDS:
                skipped += 1
                continue
            raw = tree.read(path) or b""
            read += len(raw)
            files[path] = (stamp, _checksum_words(path, raw))
            step()
        self.warning = f"{skipped:,} files of the project were not checked" * bool(skipped)
        return files

    def _load(self) -> dict[str, tuple[FileStamp, array[int]]]:
        if not self._cache.is_intact():
            return {}
        try:
            with closing(open_database_to_read(self._cache.path)) as cache:
                if cache.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                    return {}
                rows = cache.execute("SELECT * FROM file").fetchall()
        except (sqlite3.Error, OSError):
            return {}
        return {
            path.decode("utf-8", "surrogateescape"): (FileStamp(*stamp), array("I", words))
            for path, *stamp, words in rows
        }

    def _save(self, before: dict[str, tuple[FileStamp, array[int]]]) -> None:
        """Write the differences from `before`, or all into a new cache if there is none."""
        with state_lock(self._cache.folder, _PATIENCE):
            is_new = not before or not self._cache.is_intact()
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
        before: dict[str, tuple[FileStamp, array[int]]],
        *,
        is_new: bool,
    ) -> None:
        with connection:
            if is_new:
                connection.execute(_SCHEMA)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            deleted = before.keys() - self._files.keys()
            connection.executemany("DELETE FROM file WHERE path = ?", ((_raw(p),) for p in deleted))
            connection.executemany(
                "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?)",
                (
                    (_raw(path), *entry[0], entry[1].tobytes())
                    for path, entry in self._files.items()
                    if before.get(path) is not entry
                ),
            )


def _is_in(checksum: int, checksums: array[int]) -> bool:
    """Return whether sorted `checksums` contain one."""
    at = bisect_left(checksums, checksum)
    return at < len(checksums) and checksums[at] == checksum


def _raw(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _checksum_words(path: str, raw: bytes) -> array[int]:
    """Return the checksums of the words of a file and of its path."""
    words = set(_WORD.findall(_raw(path)))
    if b"\0" not in raw[:_BINARY_CHECK_BYTES]:
        words.update(_WORD.findall(raw[:LARGEST_FILE]))
    for joined in [word for word in words if not word.isascii()]:
        words.update(_OTHER_SCRIPT.split(joined))
    for joined in [word for word in words if b"-" in word or b"$" in word]:
        words.update(_JOINT.split(joined))
    return array("I", sorted(map(crc32, words)))
