"""The finder of the notebook, its search indexes, and the associations of the open note."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

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
from ricordo.tui.messages import NoteRequested
from ricordo.tui.render.mask import find_cached_secrets

if TYPE_CHECKING:
    from textual.screen import Screen

    from ricordo.agents.place import MemoryPlace
    from ricordo.memory.memory import Memory
    from ricordo.services.search.ambient import Association, Associations
    from ricordo.tui.actions.handlers import Handlers
    from ricordo.tui.base.open_note import OpenNote
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.finder.screen import FinderScreen, FruitlessSearch

IDLE = 5.0
"""Seconds without a key or a change after which the index is built: that needs the processor."""
_REST = 0.4
"""Seconds for which a note is open before its associations are looked up: moving through the index
need not wait for them.
"""


class FinderController:
    """The finder and the associations of one screen."""

    def __init__(
        self,
        screen: Screen[Any],
        notebook: Notebook,
        reading: OpenNote,
        palette: Callable[[], Palette],
        open_note: Callable[[str, int], None],
    ) -> None:
        """`reading` knows the open note; `open_note` is called with the path of a hit and the line
        of its passage.
        """
        self._screen = screen
        self._notebook = notebook
        self._environment = notebook.environment
        self._reading = reading
        self._palette = palette
        self._open_note = open_note
        self._reminding: tuple[Memory, Associations] | None = None
        self._touched = 0.0
        self._is_left = False
        self._finder: FinderScreen | None = None

    # Imported late: the first paint need not wait for the search.

    @cached_property
    def _here(self) -> ThisMemorySource:
        return ThisMemorySource(self._notebook, self._reading, lambda: self._is_left)

    @cached_property
    def _everywhere(self) -> AllMemoriesSource:
        return AllMemoriesSource(self._notebook, lambda: self._is_left)

    def stop_indexing(self) -> None:
        """Stop building indexes: the next screen that needs one builds it."""
        self._is_left = True

    def update_snapshot(self, snapshot: Snapshot) -> None:
        """Use a new snapshot: show the associations of the open note, and update the index once
        the user is idle.
        """
        if self._finder is not None:
            self._finder.search_again()
        if snapshot.is_judged:
            self._touched = time.monotonic()
            self._run(self._keep_up, "recall")
            self._start_reminding(on_purpose=False)

    async def _keep_up(self) -> None:
        while (left := self._touched + IDLE - time.monotonic()) > 0:
            await asyncio.sleep(left)
        here = await asyncio.to_thread(lambda: self._here)
        await here.build_index()

    # The finder

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "finder": self.open_finder,
        }

    def open_finder(self) -> None:
        """Open the finder."""
        from ricordo.tui.finder.screen import FinderScreen

        if self._reading.snapshot is not None:
            self._finder = FinderScreen((self._here, self._everywhere), self._palette())
            self._screen.app.push_screen(self._finder, self._open_chosen)

    def _open_chosen(self, chosen: PlacedHit | FruitlessSearch | None) -> None:
        from ricordo.services.search.recall import find_line_of_passage
        from ricordo.tui.finder.screen import FruitlessSearch

        self._finder = None
        if isinstance(chosen, FruitlessSearch):
            self._run(partial(self._remember_miss, chosen.words), "gap")
        elif chosen is not None:
            result = chosen.hit.result
            self._open_found(chosen.place, result.note.path, find_line_of_passage(result))

    def _open_found(self, place: MemoryPlace, path: str, line: int) -> None:
        if place.root == self._notebook.place.root:
            self._open_note(path, line)
        else:
            self._screen.post_message(NoteRequested(place, path, line))

    async def _remember_miss(self, words: str) -> None:
        from ricordo.search.query import parse
        from ricordo.services.search.usage import remember_search_miss

        snapshot, missed = self._reading.snapshot, parse(words).words
        if snapshot is not None:
            await asyncio.to_thread(
                remember_search_miss, self._environment, snapshot.memory, missed
            )

    # Associations

    def show_associations(self, *, on_purpose: bool = False) -> None:
        """Show the associations of the open note; `on_purpose` where it was not only passed."""
        self._touched = time.monotonic()
        self._start_reminding(on_purpose=on_purpose)

    def _start_reminding(self, *, on_purpose: bool) -> None:
        self._run(partial(self._remind, on_purpose=on_purpose), "remind")

    def _run(self, work: Callable[[], Awaitable[None]], group: str) -> None:
        """Do `work` in a worker, and cancel earlier work of its `group`."""
        self._screen.run_worker(work, group=group, exclusive=True)

    async def _remind(self, *, on_purpose: bool) -> None:
        await asyncio.sleep(_REST)
        snapshot, path = self._reading.snapshot, self._reading.path
        if snapshot is None or not snapshot.is_judged or path not in snapshot.memory.by_path:
            return
        if on_purpose:
            from ricordo.services.search.usage import remember_opened

            await asyncio.to_thread(remember_opened, self._environment, snapshot.memory, path)
        associations = await asyncio.to_thread(self._find_associations, snapshot, path)
        await self._reading.show_associations(snapshot, path, associations)

    def _find_associations(self, snapshot: Snapshot, path: str) -> list[Association]:
        from ricordo.services.search.ambient import load_associations

        if self._reminding is None or self._reminding[0] is not snapshot.memory:
            self._reminding = snapshot.memory, load_associations(snapshot.memory, self._environment)
        return self._reminding[1].find_related(path)


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
        find = search.find_named if by_name else search.find
        return self._placed(snapshot, find(typed, values))

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
