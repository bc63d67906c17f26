"""The index of one memory: made, kept up to date, made anew, and never trusted further than that.

Whatever is asked is asked for a `Memory`, the one that is on the screen or was just read. The index
is brought in line with it first; where our state directory does not let it, an index is made in
working memory, so that the answer is the same and only later.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from typing import TypeVar

from ricordo.errors import StateUnusable
from ricordo.memory.memory import Memory
from ricordo.search.reader import FILE, FOLDER, MOST, VERSION, Reader, read_catalogue
from ricordo.search.store import NOTHING_WITHHELD, IndexStore, Progress, Withholding, fill
from ricordo.storage.cache_file import CacheFile
from ricordo.storage.lock import state_lock
from ricordo.storage.state_file import open_database, replace_state_file

Answer = TypeVar("Answer")

PATIENCE = 10.0
"""Seconds for which another process may be making the same index."""


class SearchIndex:
    """The index of the memory at one root. May be asked from any thread, one at a time."""

    def __init__(
        self,
        state: str,
        root: str,
        project: str = "",
        rank: int = 0,
        withholding: Withholding = NOTHING_WITHHELD,
    ) -> None:
        """`state` is our state directory; the hook finds the memory by its `project`, and of
        several of one project takes the one of the lowest `rank`. What agents are never given is
        marked by `withholding`, so that the hook need not judge. Nothing is touched yet.
        """
        self._withholding = withholding
        self._file = CacheFile(state, FOLDER, root)
        self._root = root
        self._project, self._rank = project, rank
        self._store: IndexStore | None = None
        self._facts = ""
        """The state of the file in which we left it; "" for an index in working memory."""
        self._lock = RLock()
        self.remark = ""
        """Why the index is not kept on the disk; "" where it is."""

    def ask(
        self,
        memory: Memory,
        question: Callable[[Reader], Answer],
        progress: Progress | None = None,
    ) -> Answer:
        """Return the answer to `question`, asked of the index of `memory` as it is."""
        with self._lock:
            try:
                return question(Reader(self._brought_up(memory, progress).connection))
            except (sqlite3.Error, OSError, StateUnusable) as error:
                self.close()
                self.remark = f"The index is not kept: {error}"
                return question(Reader(self._in_working_memory(memory, progress).connection))

    def bring_up(self, memory: Memory, progress: Progress | None = None) -> None:
        """Bring the index in line with `memory`, as `ask` does by itself. For doing it early."""
        self.ask(memory, lambda reader: None, progress)

    def close(self) -> None:
        """Close the file; the next question opens it again."""
        with self._lock:
            if self._store:
                with suppress(sqlite3.Error):
                    self._store.connection.close()
            self._store = None

    def _brought_up(self, memory: Memory, progress: Progress | None) -> IndexStore:
        if self._store and not self._facts:
            self._store.bring_up(memory, progress)
            return self._store
        if self._store and self._file.facts() == self._facts and self._store.fits(memory):
            return self._store
        with state_lock(self._file.folder, PATIENCE):
            if self._store is None or self._file.facts() != self._facts:
                self.close()
                self._store = self._opened()
                if self._store:
                    self._register()
            if self._store is None:
                self._store = self._made(memory, progress)
            elif self._store.bring_up(memory, progress):
                self._file.seal()
            self._facts = self._file.facts()
            return self._store

    def _opened(self) -> IndexStore | None:
        """Open the file that is there; None where it is not whole, or of another version."""
        if not self._file.is_whole():
            return None
        connection = _connection(self._file.path)
        with suppress(sqlite3.Error):
            if connection.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                return IndexStore(connection, self._withholding)
        connection.close()
        return None

    def _made(self, memory: Memory, progress: Progress | None) -> IndexStore:
        self.close()
        self._file.prepare()
        draft = _connection(self._file.draft)
        try:
            fill(draft, memory, progress, self._withholding)
        finally:
            draft.close()
        self._file.publish()
        self._file.seal()
        self._register()
        store = IndexStore(_connection(self._file.path), self._withholding)
        store.take_for_granted(memory)
        return store

    def _register(self) -> None:
        """Let the hook find this index; a project that was known once stays known."""
        known = read_catalogue(self._file.state)
        before = known.get(self._root, {})
        entry = {
            "index": self._file.name,
            "project": self._project or before.get("project", ""),
            "rank": self._rank,
        }
        if entry != before:
            # a memory that is away, on a disk that is not mounted, may come back
            others = [(root, it) for root, it in known.items() if root != self._root]
            kept = dict([*others, (self._root, entry)][-MOST:])
            text = json.dumps(kept, indent=1)
            replace_state_file(self._file.folder, FILE, text.encode("ascii"))

    def _in_working_memory(self, memory: Memory, progress: Progress | None) -> IndexStore:
        spare = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._store, self._facts = fill(spare, memory, progress, self._withholding), ""
        return self._store


def _connection(path: str) -> sqlite3.Connection:
    connection = open_database(path, timeout=1.0, autocommit=True, check_same_thread=False)
    # the seal tells what a crash of the machine left; waiting for the disk would buy nothing
    connection.execute("PRAGMA synchronous = OFF")
    return connection
