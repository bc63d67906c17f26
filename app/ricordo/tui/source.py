"""Where the finder finds: in the memory on the screen, or in every memory of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ricordo.courtesy import GivingWay
from ricordo.notebook.conditions import Values, asks_findings, values_of
from ricordo.notebook.find import all_memories
from ricordo.notebook.recall import open_index
from ricordo.notebook.search import Found, Hit, Search
from ricordo.notebook.search_all import NOTHING, FoundInAll, PlacedHit, SearchAll
from ricordo.notebook.usage import uses_by_person
from ricordo.tui.render.mask import secrets_in

if TYPE_CHECKING:
    from ricordo.memory.memory import Memory
    from ricordo.notebook.open import Look, Notebook
    from ricordo.tui.reading import Reading


_PATIENCE = 5.0
"""Seconds for which an index waits more than is worked at it, while something is awaited that does
not need it.
"""


class Source(Protocol):
    """What finds notes."""

    title: str
    """What the person is told of it."""
    done: int
    """How many notes the index that is being made has."""
    of: int
    """Of how many; 0 where none is being made."""

    @property
    def searched(self) -> object:
        """What is searched; another object once it is looked at anew."""

    @property
    def is_judged(self) -> bool:
        """Whether it is known what is wrong with the notes."""

    async def make_index(self) -> list[str]:
        """Bring the index in line with what is there; return what could not be read."""

    async def find(self, typed: str, *, by_name: bool = False) -> FoundInAll:
        """Return what fits what was `typed`, `by_name` what can be found before there is an index.

        Raises RicordoError.
        """

    async def ambient(self) -> FoundInAll:
        """Return what the surroundings call for."""


class _Left(Exception):
    """The person has left, so that no index is needed any more."""


class _Indexing:
    """How far the index is that is being made."""

    def __init__(self, is_left: Callable[[], bool]) -> None:
        self.done = self.of = 0
        self._is_left = is_left
        self._asking = 0
        """How many searches wait for the index."""

    def _progress(self) -> Callable[[int, int], None]:
        """Return what is told how far one index is."""
        step = GivingWay(_PATIENCE, lambda: self._asking > 0).step

        def progressed(done: int, of: int) -> None:
            if self._is_left():
                raise _Left
            self.done, self.of = done, of
            step()

        return progressed


class _Ready(NamedTuple):
    """What a search needs of one look."""

    look: Look
    search: Search
    uses: Mapping[str, int]


class Here(_Indexing):
    """The memory on the screen, as it is looked at now."""

    title = "Find"

    def __init__(self, notebook: Notebook, reading: Reading, is_left: Callable[[], bool]) -> None:
        """`reading` tells what is looked at; once it `is_left` no index is made any further."""
        super().__init__(is_left)
        self._place = notebook.place
        self._surroundings = notebook.surroundings
        self._reading = reading
        self._index = open_index(self._place, self._surroundings)
        self._ready: _Ready | None = None
        self._making = Lock()
        self._judged: tuple[Look, Values] | None = None
        self._called: tuple[Memory, FoundInAll] | None = None

    @property
    def searched(self) -> Look:
        """The last look at the memory."""
        look = self._reading.look
        assert look is not None, "the finder opens on a memory that was read"
        return look

    @property
    def is_judged(self) -> bool:
        """Whether the rules have run over it."""
        return self.searched.judged

    async def make_index(self) -> list[str]:
        """Bring the index in line with what is looked at."""
        memory = self.searched.memory
        try:
            # names come first: they are found before the index is there
            await asyncio.to_thread(lambda: self._readied().search.prepare())
            await asyncio.to_thread(lambda: self._index.bring_up(memory, self._progress()))
        except _Left:
            return []
        self.done = self.of = 0
        return []

    async def find(self, typed: str, *, by_name: bool = False) -> FoundInAll:
        """Return what fits what was `typed`, `by_name` only what is called so."""
        self._asking += not by_name
        try:
            return await asyncio.to_thread(self._find, typed, by_name)
        finally:
            self._asking -= not by_name

    async def ambient(self) -> FoundInAll:
        """Return what the surroundings call for; asked once for a memory, as git is slow."""
        look = self.searched
        if self._called is None or self._called[0] is not look.memory:
            self._called = look.memory, await asyncio.to_thread(self._ambient, look)
        return self._called[1]

    def _find(self, typed: str, by_name: bool) -> FoundInAll:
        look, search, uses = self._readied()
        values = self._judged_values(look, uses) if asks_findings(typed) else Values(uses=uses)
        find = search.find_named if by_name else search.find
        return self._placed(look, find(typed, values))

    def _readied(self) -> _Ready:
        # whoever asks while it is made waits, and does not make a second one
        with self._making:
            look, ready = self.searched, self._ready
            if ready is None or ready.look is not look:
                uses = uses_by_person(self._surroundings, look.memory)
                ready = self._ready = _Ready(look, self._search_of(look.memory), uses)
            return ready

    def _search_of(self, memory: Memory) -> Search:
        before = self._ready
        if before and before.look.memory is memory:
            return before.search
        return Search(self._index, memory, self._surroundings, before.search if before else None)

    def _judged_values(self, look: Look, uses: Mapping[str, int]) -> Values:
        if self._judged is None or self._judged[0] is not look:
            self._judged = look, values_of(look, uses)
        return self._judged[1]

    def _ambient(self, look: Look) -> FoundInAll:
        from ricordo.notebook.ambient import ambient

        called = ambient(self._index, look.memory, self._place, self._surroundings)
        hits = tuple(Hit(it, by_name=False) for it in called)
        return self._placed(look, Found(hits, len(called)))

    def _placed(self, look: Look, found: Found) -> FoundInAll:
        hits = (PlacedHit(self._place, look, hit) for hit in found.hits)
        _look_through(found.hits)
        return FoundInAll(tuple(hits), found.total, found.is_all, found.remarks)


class Everywhere(_Indexing):
    """Every memory of this machine, as each was when its index was asked for."""

    title = "Find in every memory"

    def __init__(self, notebook: Notebook, is_left: Callable[[], bool]) -> None:
        """The memory of `notebook` is one of them; once it `is_left` none is indexed any more."""
        super().__init__(is_left)
        self._here = notebook.place
        self._surroundings = notebook.surroundings
        self._settings = notebook.settings
        self._search: SearchAll | None = None

    @property
    def searched(self) -> SearchAll | None:
        """All memories, once they are read."""
        return self._search

    @property
    def is_judged(self) -> bool:
        """Whether they are read: each is judged when it is asked what is wrong there."""
        return self._search is not None

    async def make_index(self) -> list[str]:
        """Read and index every memory; return which could not be read, and why."""
        try:
            self._search = await asyncio.to_thread(self._read)
        except _Left:
            return []
        self.done = self.of = 0
        return self._search.remarks

    def _read(self) -> SearchAll:
        progressed = self._progress()
        others = all_memories(self._surroundings)
        places = [self._here, *(place for place in others if place.root != self._here.root)]
        return SearchAll(
            self._surroundings,
            self._settings,
            places,
            progress=lambda _, done, of: progressed(done, of),
        )

    async def find(self, typed: str, *, by_name: bool = False) -> FoundInAll:
        """Return what fits what was `typed`; nothing before the memories are read."""
        if self._search is None or by_name:
            return NOTHING
        return await asyncio.to_thread(self._find, self._search, typed)

    def _find(self, search: SearchAll, typed: str) -> FoundInAll:
        found = search.find(typed)
        _look_through([it.hit for it in found.hits])
        return found

    async def ambient(self) -> FoundInAll:
        """Return nothing: the surroundings call for notes of one memory."""
        return NOTHING


def _look_through(hits: Iterable[Hit]) -> None:
    """Look for secrets in the notes that were found, so that no row has to wait for it."""
    for hit in hits:
        secrets_in(hit.result.note.text)
