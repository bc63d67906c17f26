"""What the notebook recalls: the finder, and what the open note reminds of."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from ricordo.background import Throttle
from ricordo.services.search.conditions import Values, asks_findings, values_of
from ricordo.services.search.recall import open_index
from ricordo.services.search.search import (
    NOTHING,
    AllSearchResults,
    Hit,
    PlacedHit,
    Search,
    SearchAll,
    SearchResults,
)
from ricordo.services.search.usage import uses_by_person
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.services.workspace.places import all_memories
from ricordo.tui.messages import NoteRequested
from ricordo.tui.render.mask import secrets_in

if TYPE_CHECKING:
    from textual.screen import Screen

    from ricordo.agents.place import MemoryPlace
    from ricordo.memory.memory import Memory
    from ricordo.services.search.ambient import Association, Associations
    from ricordo.tui.actions.handlers import Handlers
    from ricordo.tui.base.reading import OpenNote
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.finder.screen import FinderScreen, InVain

IDLE = 5.0
"""Seconds without a key or a change after which the index is made: it takes the processor."""
_REST = 0.4
"""Seconds for which a note is open before it is asked what it reminds of: who walks through the
index does not wait for it.
"""


class Recalling:
    """Finding and being reminded, on the memory that a screen shows."""

    def __init__(
        self,
        screen: Screen[Any],
        notebook: Notebook,
        reading: OpenNote,
        palette: Callable[[], Palette],
        open_note: Callable[[str, int], None],
    ) -> None:
        """`reading` tells what is looked at; `open_note` is called with the path of what was found
        and the line of the passage.
        """
        self._screen = screen
        self._notebook = notebook
        self._surroundings = notebook.surroundings
        self._reading = reading
        self._palette = palette
        self._open_note = open_note
        self._reminding: tuple[Memory, Associations] | None = None
        self._touched = 0.0
        self._is_left = False
        self._finder: FinderScreen | None = None

    # What searches is loaded when somebody searches: the first paint need not wait for it.

    @cached_property
    def _here(self) -> Here:
        return Here(self._notebook, self._reading, lambda: self._is_left)

    @cached_property
    def _everywhere(self) -> Everywhere:
        return Everywhere(self._notebook, lambda: self._is_left)

    def leave(self) -> None:
        """Let nobody wait for an index: who needs it next makes it."""
        self._is_left = True

    def looked(self, look: Snapshot) -> None:
        """Keep the index in line with `look`, once the person does nothing for a while, and show
        what the open note reminds of in it.
        """
        if self._finder is not None:
            self._finder.search_again()
        if look.judged:
            self._touched = time.monotonic()
            self._run(self._keep_up, "recall")
            self._begin_reminding(on_purpose=False)

    async def _keep_up(self) -> None:
        while (left := self._touched + IDLE - time.monotonic()) > 0:
            await asyncio.sleep(left)
        here = await asyncio.to_thread(lambda: self._here)
        await here.make_index()

    # The finder

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "finder": self.open_finder,
        }

    def open_finder(self) -> None:
        """Find notes while words are typed."""
        from ricordo.tui.finder.screen import FinderScreen

        if self._reading.look is not None:
            self._finder = FinderScreen((self._here, self._everywhere), self._palette())
            self._screen.app.push_screen(self._finder, self._found)

    def _found(self, chosen: PlacedHit | InVain | None) -> None:
        from ricordo.services.search.recall import line_of_passage
        from ricordo.tui.finder.screen import InVain

        self._finder = None
        if isinstance(chosen, InVain):
            self._run(partial(self._remember_gap, chosen.words), "gap")
        elif chosen is not None:
            result = chosen.hit.result
            self._open_found(chosen.place, result.note.path, line_of_passage(result))

    def _open_found(self, place: MemoryPlace, path: str, line: int) -> None:
        if place.root == self._notebook.place.root:
            self._open_note(path, line)
        else:
            self._screen.post_message(NoteRequested(place, path, line))

    async def _remember_gap(self, words: str) -> None:
        from ricordo.search.query import parse
        from ricordo.services.search.usage import remember_gap

        look, missed = self._reading.look, parse(words).words
        if look is not None:
            await asyncio.to_thread(remember_gap, self._surroundings, look.memory, missed)

    # Being reminded

    def note_opened(self, *, on_purpose: bool = False) -> None:
        """Show what the open note reminds of; `on_purpose` it was chosen, not only passed."""
        self._touched = time.monotonic()
        self._begin_reminding(on_purpose=on_purpose)

    def _begin_reminding(self, *, on_purpose: bool) -> None:
        self._run(partial(self._remind, on_purpose=on_purpose), "remind")

    def _run(self, work: Callable[[], Awaitable[None]], group: str) -> None:
        """Do `work` beside the screen, in the place of what else of its group is not done yet."""
        self._screen.run_worker(work, group=group, exclusive=True)

    async def _remind(self, *, on_purpose: bool) -> None:
        await asyncio.sleep(_REST)
        look, path = self._reading.look, self._reading.path
        if look is None or not look.judged or path not in look.memory.by_path:
            return
        if on_purpose:
            from ricordo.services.search.usage import remember_opened

            await asyncio.to_thread(remember_opened, self._surroundings, look.memory, path)
        found = await asyncio.to_thread(self._reminded, look, path)
        await self._reading.remind(look, path, found)

    def _reminded(self, look: Snapshot, path: str) -> list[Association]:
        from ricordo.services.search.ambient import associations

        if self._reminding is None or self._reminding[0] is not look.memory:
            self._reminding = look.memory, associations(look.memory, self._surroundings)
        return self._reminding[1].of(path)


_PATIENCE = 5.0
"""Seconds for which an index waits more than is worked at it, while something is awaited that does
not need it.
"""


class _FinderClosed(Exception):
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
        step = Throttle(_PATIENCE, lambda: self._asking > 0).step

        def progressed(done: int, of: int) -> None:
            if self._is_left():
                raise _FinderClosed
            self.done, self.of = done, of
            step()

        return progressed


class _Ready(NamedTuple):
    """What a search needs of one look."""

    look: Snapshot
    search: Search
    uses: Mapping[str, int]


class Here(_Indexing):
    """The memory on the screen, as it is looked at now."""

    title = "Find"

    def __init__(self, notebook: Notebook, reading: OpenNote, is_left: Callable[[], bool]) -> None:
        """`reading` tells what is looked at; once it `is_left` no index is made any further."""
        super().__init__(is_left)
        self._place = notebook.place
        self._surroundings = notebook.surroundings
        self._reading = reading
        self._index = open_index(self._place, self._surroundings)
        self._ready: _Ready | None = None
        self._making = Lock()
        self._judged: tuple[Snapshot, Values] | None = None
        self._called: tuple[Memory, AllSearchResults] | None = None

    @property
    def searched(self) -> Snapshot:
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
        except _FinderClosed:
            return []
        self.done = self.of = 0
        return []

    async def find(self, typed: str, *, by_name: bool = False) -> AllSearchResults:
        """Return what fits what was `typed`, `by_name` only what is called so."""
        self._asking += not by_name
        try:
            return await asyncio.to_thread(self._find, typed, by_name)
        finally:
            self._asking -= not by_name

    async def ambient(self) -> AllSearchResults:
        """Return what the surroundings call for; asked once for a memory, as git is slow."""
        look = self.searched
        if self._called is None or self._called[0] is not look.memory:
            self._called = look.memory, await asyncio.to_thread(self._ambient, look)
        return self._called[1]

    def _find(self, typed: str, by_name: bool) -> AllSearchResults:
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

    def _judged_values(self, look: Snapshot, uses: Mapping[str, int]) -> Values:
        if self._judged is None or self._judged[0] is not look:
            self._judged = look, values_of(look, uses)
        return self._judged[1]

    def _ambient(self, look: Snapshot) -> AllSearchResults:
        from ricordo.services.search.ambient import ambient

        called = ambient(self._index, look.memory, self._place, self._surroundings)
        hits = tuple(Hit(it, by_name=False) for it in called)
        return self._placed(look, SearchResults(hits, len(called)))

    def _placed(self, look: Snapshot, found: SearchResults) -> AllSearchResults:
        hits = (PlacedHit(self._place, look, hit) for hit in found.hits)
        _look_through(found.hits)
        return AllSearchResults(tuple(hits), found.total, found.is_all, found.remarks)


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
        except _FinderClosed:
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

    async def find(self, typed: str, *, by_name: bool = False) -> AllSearchResults:
        """Return what fits what was `typed`; nothing before the memories are read."""
        if self._search is None or by_name:
            return NOTHING
        return await asyncio.to_thread(self._find, self._search, typed)

    def _find(self, search: SearchAll, typed: str) -> AllSearchResults:
        found = search.find(typed)
        _look_through([it.hit for it in found.hits])
        return found

    async def ambient(self) -> AllSearchResults:
        """Return nothing: the surroundings call for notes of one memory."""
        return NOTHING


def _look_through(hits: Iterable[Hit]) -> None:
    """Look for secrets in the notes that were found, so that no row has to wait for it."""
    for hit in hits:
        secrets_in(hit.result.note.text)
