"""The sources of the finder: this memory and all memories, and the building of their indexes.

Apart from the controller, as the first paint need not wait for the search.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from ricordo.background import Throttle
from ricordo.services.search.conditions import ConditionValues, collect_values, needs_findings
from ricordo.services.search.recall import open_index
from ricordo.services.search.search import (
    NO_RESULTS,
    AllSearchResults,
    Hit,
    PlacedHit,
    Search,
    SearchAll,
    SearchResults,
)
from ricordo.services.search.usage import count_uses
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.services.workspace.places import find_all_memories
from ricordo.tui.render.mask import find_cached_secrets

if TYPE_CHECKING:
    from ricordo.memory.memory import Memory
    from ricordo.tui.base.open_note import OpenNote

_PATIENCE = 5.0
"""Seconds for which building an index waits, in all, for searches that do not need it."""


class _FinderClosed(Exception):
    """The screen was closed, so no index is needed any more."""


class _Indexing:
    """The progress of building an index."""

    def __init__(self, is_left: Callable[[], bool]) -> None:
        self.done = self.of = 0
        self._is_left = is_left
        self._asking = 0
        """Number of searches that are running."""

    def _progress(self) -> Callable[[int, int], None]:
        """Return what is called with the progress of one index."""
        step = Throttle(_PATIENCE, lambda: self._asking > 0).step

        def progressed(done: int, of: int) -> None:
            if self._is_left():
                raise _FinderClosed
            self.done, self.of = done, of
            step()

        return progressed


class _PreparedSearch(NamedTuple):
    """What a search needs of one snapshot."""

    snapshot: Snapshot
    search: Search
    uses: Mapping[str, int]


class ThisMemorySource(_Indexing):
    """Searches the memory of the notebook, in its last snapshot."""

    title = "Find"

    def __init__(self, notebook: Notebook, reading: OpenNote, is_left: Callable[[], bool]) -> None:
        """`reading` has the last snapshot; once `is_left`, building the index stops."""
        super().__init__(is_left)
        self._place = notebook.place
        self._environment = notebook.environment
        self._reading = reading
        self._index = open_index(self._place, self._environment)
        self._ready: _PreparedSearch | None = None
        self._making = Lock()
        self._judged: tuple[Snapshot, ConditionValues] | None = None
        self._ambient_of: tuple[Memory, AllSearchResults] | None = None

    @property
    def searched(self) -> Snapshot:
        """The last snapshot of the memory."""
        snapshot = self._reading.snapshot
        assert snapshot is not None, "the finder opens on a memory that was read"
        return snapshot

    @property
    def is_judged(self) -> bool:
        """Whether the rules have run over it."""
        return self.searched.is_judged

    async def build_index(self) -> list[str]:
        """Update the index to the last snapshot; return no warnings."""
        memory = self.searched.memory
        try:
            # names first: they are found before the index is there
            await asyncio.to_thread(lambda: self._prepare().search.prepare())
            await asyncio.to_thread(lambda: self._index.update(memory, self._progress()))
        except _FinderClosed:
            return []
        self.done = self.of = 0
        return []

    async def find(self, typed: str, *, by_name: bool = False) -> AllSearchResults:
        """Return the notes that match what was `typed`; with `by_name` by name only."""
        self._asking += not by_name
        try:
            return await asyncio.to_thread(self._find, typed, by_name)
        finally:
            self._asking -= not by_name

    async def find_relevant(self) -> AllSearchResults:
        """Return the notes that suit the environment; once for a memory, as git is slow."""
        snapshot = self.searched
        if self._ambient_of is None or self._ambient_of[0] is not snapshot.memory:
            self._ambient_of = snapshot.memory, await asyncio.to_thread(self._ambient, snapshot)
        return self._ambient_of[1]

    def _find(self, typed: str, by_name: bool) -> AllSearchResults:
        snapshot, search, uses = self._prepare()
        values = (
            self._judged_values(snapshot, uses)
            if needs_findings(typed)
            else ConditionValues(uses=uses)
        )
        if by_name:
            return self._placed(snapshot, search.find_named(typed, values))
        results = search.find(typed, values)
        hints = () if results.hits or results.warnings else search.suggest(typed, values)
        return self._placed(snapshot, results)._replace(hints=hints)

    def _prepare(self) -> _PreparedSearch:
        # a second caller waits for the first one's result
        with self._making:
            snapshot, ready = self.searched, self._ready
            if ready is None or ready.snapshot is not snapshot:
                uses = count_uses(self._environment, snapshot.memory)
                ready = self._ready = _PreparedSearch(
                    snapshot, self._search_of(snapshot.memory), uses
                )
            return ready

    def _search_of(self, memory: Memory) -> Search:
        before = self._ready
        if before and before.snapshot.memory is memory:
            return before.search
        return Search(self._index, memory, self._environment, before.search if before else None)

    def _judged_values(self, snapshot: Snapshot, uses: Mapping[str, int]) -> ConditionValues:
        if self._judged is None or self._judged[0] is not snapshot:
            self._judged = snapshot, collect_values(snapshot, uses)
        return self._judged[1]

    def _ambient(self, snapshot: Snapshot) -> AllSearchResults:
        from ricordo.services.search.ambient import recall_ambient

        relevant = recall_ambient(self._index, snapshot.memory, self._place, self._environment)
        hits = tuple(Hit(result, by_name=False) for result in relevant)
        return self._placed(snapshot, SearchResults(hits, len(relevant)))

    def _placed(self, snapshot: Snapshot, found: SearchResults) -> AllSearchResults:
        hits = (PlacedHit(self._place, snapshot, hit) for hit in found.hits)
        _find_secrets(found.hits)
        return AllSearchResults(tuple(hits), found.total, found.is_exact, found.warnings)


class AllMemoriesSource(_Indexing):
    """Searches every memory of this machine, as it was when its index was requested."""

    title = "Find in every memory"

    def __init__(self, notebook: Notebook, is_left: Callable[[], bool]) -> None:
        """The memory of `notebook` is one of them; once `is_left`, building indexes stops."""
        super().__init__(is_left)
        self._here = notebook.place
        self._environment = notebook.environment
        self._settings = notebook.settings
        self._search: SearchAll | None = None

    @property
    def searched(self) -> SearchAll | None:
        """The search in all memories; None before they are read."""
        return self._search

    @property
    def is_judged(self) -> bool:
        """Whether they are read: each is judged when a search needs its findings."""
        return self._search is not None

    async def build_index(self) -> list[str]:
        """Read and index every memory; return warnings about unreadable ones."""
        try:
            self._search = await asyncio.to_thread(self._read)
        except _FinderClosed:
            return []
        self.done = self.of = 0
        return self._search.warnings

    def _read(self) -> SearchAll:
        progressed = self._progress()
        others = find_all_memories(self._environment)
        places = [self._here, *(place for place in others if place.root != self._here.root)]
        return SearchAll(
            self._environment,
            self._settings,
            places,
            progress=lambda _, done, of: progressed(done, of),
        )

    async def find(self, typed: str, *, by_name: bool = False) -> AllSearchResults:
        """Return the notes that match what was `typed`; none before the memories are read."""
        if self._search is None or by_name:
            return NO_RESULTS
        return await asyncio.to_thread(self._find, self._search, typed)

    def _find(self, search: SearchAll, typed: str) -> AllSearchResults:
        results = search.find(typed)
        _find_secrets([placed.hit for placed in results.hits])
        return results

    async def find_relevant(self) -> AllSearchResults:
        """Return nothing: only the notes of one memory can suit the environment."""
        return NO_RESULTS


def _find_secrets(hits: Iterable[Hit]) -> None:
    """Find the secrets of hits in this thread, so that drawing a row need not."""
    for hit in hits:
        find_cached_secrets(hit.result.note.text)
