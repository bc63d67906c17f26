"""The search index of one memory: created, updated, and rebuilt if damaged.

Every query is for a `Memory`, the one on the screen or just read. The index is updated to it first;
if the state directory is not writable, an index is built in RAM, so that the answer is the same,
only slower.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import RLock
from typing import TypeVar

from ricordo.errors import StateUnusable
from ricordo.memory.memory import Memory
from ricordo.search.reader import FILE, FOLDER, MAX_MEMORIES, VERSION, IndexReader, read_catalogue
from ricordo.search.store import NOTHING_WITHHELD, IndexStore, Progress, Withholding, build_index
from ricordo.storage.cache_file import CacheFile
from ricordo.storage.lock import state_lock
from ricordo.storage.state_file import open_database, replace_state_file

Answer = TypeVar("Answer")

PATIENCE = 10.0
"""Seconds to wait for another process that builds the same index."""


class SearchIndex:
    """The index of the memory at one root. Any thread may query it, one at a time."""

    def __init__(
        self,
        state: str,
        root: str,
        project: str = "",
        rank: int = 0,
        withholding: Withholding = NOTHING_WITHHELD,
    ) -> None:
        """Set the state directory and the memory; opens nothing. The hook finds the memory by its
        `project`, and of several ones in a project takes that with the lowest `rank`. `withholding`
        marks the notes that agents never get, so that the hook need not check them.
        """
        self._withholding = withholding
        self._file = CacheFile(state, FOLDER, root)
        self._root = root
        self._project, self._rank = project, rank
        self._store: IndexStore | None = None
        self._facts = ""
        """The fingerprint of the file after the last write; "" for an index in RAM."""
        self._lock = RLock()
        self.warning = ""
        """Why the index is not on disk; "" if it is."""

    def query(
        self,
        memory: Memory,
        question: Callable[[IndexReader], Answer],
        progress: Progress | None = None,
    ) -> Answer:
        """Update the index to `memory`, and return the answer to `question` from it."""
        with self._lock:
            try:
                return question(IndexReader(self._update(memory, progress).connection))
            except (sqlite3.Error, OSError, StateUnusable) as error:
                self.close()
                self.warning = f"The index cannot be saved: {error}"
                return question(IndexReader(self._build_in_ram(memory, progress).connection))

    def put_passages(self, passages: Mapping[bytes, bytes]) -> None:
        """Store vectors of notes in the index that was queried last, unless another process has
        changed it.
        """
        with self._lock, suppress(sqlite3.Error, OSError, StateUnusable):
            if not self._store:
                return
            if not self._facts:
                self._store.put_passages(passages)
                return
            with state_lock(self._file.folder, PATIENCE):
                if self._file.compute_fingerprint() == self._facts:
                    self._store.put_passages(passages)
                    self._file.seal()
                    self._facts = self._file.compute_fingerprint()

    def update(self, memory: Memory, progress: Progress | None = None) -> None:
        """Update the index to `memory` in advance; `query` does so too."""
        self.query(memory, lambda reader: None, progress)

    def close(self) -> None:
        """Close the file; the next query opens it again."""
        with self._lock:
            if self._store:
                with suppress(sqlite3.Error):
                    self._store.connection.close()
            self._store = None

    def _update(self, memory: Memory, progress: Progress | None) -> IndexStore:
        if self._store and not self._facts:
            self._store.update(memory, progress)
            return self._store
        if (
            self._store
            and self._file.compute_fingerprint() == self._facts
            and self._store.is_current(memory)
        ):
            return self._store
        with state_lock(self._file.folder, PATIENCE):
            if self._store is None or self._file.compute_fingerprint() != self._facts:
                self.close()
                self._store = self._open()
                if self._store:
                    self._register()
            if self._store is None:
                self._store = self._build(memory, progress)
            elif self._store.update(memory, progress):
                self._file.seal()
            self._facts = self._file.compute_fingerprint()
            return self._store

    def _open(self) -> IndexStore | None:
        """Open the existing file; None if it is damaged, missing, or of another version."""
        if not self._file.is_intact():
            return None
        connection = _connection(self._file.path)
        with suppress(sqlite3.Error):
            if connection.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                return IndexStore(connection, self._withholding)
        connection.close()
        return None

    def _build(self, memory: Memory, progress: Progress | None) -> IndexStore:
        self.close()
        self._file.prepare()
        draft = _connection(self._file.draft)
        try:
            build_index(draft, memory, progress, self._withholding)
        finally:
            draft.close()
        self._file.publish()
        self._file.seal()
        self._register()
        store = IndexStore(_connection(self._file.path), self._withholding)
        store.assume_current(memory)
        return store

    def _register(self) -> None:
        """Add this index to the catalogue for the hook; a recorded project is kept."""
        catalogue = read_catalogue(self._file.state)
        before = catalogue.get(self._root, {})
        entry = {
            "index": self._file.name,
            "project": self._project or before.get("project", ""),
            "rank": self._rank,
        }
        if entry != before:
            # missing memories are kept: they may be on a disk that is not mounted
            others = [(root, other) for root, other in catalogue.items() if root != self._root]
            newest = dict([*others, (self._root, entry)][-MAX_MEMORIES:])
            text = json.dumps(newest, indent=1)
            replace_state_file(self._file.folder, FILE, text.encode("ascii"))

    def _build_in_ram(self, memory: Memory, progress: Progress | None) -> IndexStore:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._store, self._facts = build_index(connection, memory, progress, self._withholding), ""
        return self._store


def _connection(path: str) -> sqlite3.Connection:
    connection = open_database(path, timeout=1.0, autocommit=True, check_same_thread=False)
    # the seal detects damage by a system crash, so there is no need to wait for the disk
    connection.execute("PRAGMA synchronous = OFF")
    return connection
