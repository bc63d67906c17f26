"""What the notebook recalls: the finder, and what the open note reminds of."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ricordo.courtesy import GivingWay
from ricordo.notebook.open import Look, Notebook

if TYPE_CHECKING:
    from textual.screen import Screen

    from ricordo.memory.memory import Memory
    from ricordo.notebook.associate import Association, Associations
    from ricordo.notebook.search import Found, Search, Values
    from ricordo.recall.index import Index
    from ricordo.tui.palette import Palette
    from ricordo.tui.reading import Reading
    from ricordo.tui.screens.finder import Chosen

IDLE = 5.0
"""Seconds without a key or a change after which the index is made: it takes the processor."""
_PATIENCE = 5.0
"""Seconds for which it waits in all while notes are judged that others change."""
_REST = 0.4
"""Seconds for which a note is open before it is asked what it reminds of: who walks through the
index does not wait for it.
"""


class _Ready(NamedTuple):
    """What a search needs of one look."""

    look: Look
    search: Search
    values: Values


class Recalling:
    """Finding and being reminded, on the memory that a screen shows."""

    def __init__(
        self,
        screen: Screen[Any],
        notebook: Notebook,
        reading: Reading,
        palette: Callable[[], Palette],
        open_note: Callable[[str], None],
    ) -> None:
        """`reading` tells what is looked at; `open_note` is called with what was found."""
        self._screen = screen
        self._place = notebook.place
        self._surroundings = notebook.surroundings
        self._reading = reading
        self._palette = palette
        self._open_note = open_note
        self._ready: _Ready | None = None
        self._reminding: tuple[Memory, Associations] | None = None
        self._touched = 0.0
        self.done, self.of = 0, 0
        """How many notes the index that is being made has, and of how many; 0 of 0 else."""

    # What searches is loaded when somebody searches: the first paint need not wait for it.

    @cached_property
    def _index(self) -> Index:
        from ricordo.notebook.recall import open_index

        return open_index(self._place, self._surroundings)

    def looked(self, look: Look) -> None:
        """Keep the index in line with `look`, once the person does nothing for a while, and show
        what the open note reminds of in it.
        """
        if look.judged:
            self._touched = time.monotonic()
            self._run(partial(self._keep_up, look), "recall")
            self._begin_reminding(on_purpose=False)

    async def _keep_up(self, look: Look) -> None:
        while (left := self._touched + IDLE - time.monotonic()) > 0:
            await asyncio.sleep(left)
        await self.make_index(look)

    async def make_index(self, look: Look) -> None:
        """Bring the index in line with `look`; `done` and `of` tell how far it is."""
        step = GivingWay(_PATIENCE).step

        def progressed(done: int, of: int) -> None:
            self.done, self.of = done, of
            step()

        await asyncio.to_thread(lambda: self._index.bring_up(look.memory, progressed))
        self.done = self.of = 0

    # The finder

    def do_finder(self) -> None:
        """Find notes while words are typed."""
        from ricordo.tui.screens.finder import FinderScreen

        look = self._reading.look
        if look is not None:
            finder = FinderScreen(look, self, self._palette())
            self._screen.app.push_screen(finder, self._found)

    def _found(self, chosen: Chosen | None) -> None:
        if chosen is not None and chosen.path:
            self._open_note(chosen.path)
        elif chosen is not None:
            self._run(partial(self._remember_gap, chosen.words), "gap")

    async def find(self, typed: str, *, by_name: bool = False) -> Found:
        """Return what fits what was `typed`, `by_name` only what is called so."""
        return await asyncio.to_thread(self._find, typed, by_name)

    def _find(self, typed: str, by_name: bool) -> Found:
        ready = self._readied()
        if by_name:
            return ready.search.find_named(typed, ready.values)
        return ready.search.find(typed, ready.values)

    def _readied(self) -> _Ready:
        from ricordo.notebook.search import Search, values_of
        from ricordo.notebook.usage import uses_by_person

        look, ready = self._reading.look, self._ready
        assert look is not None, "the finder opens on a memory that was read"
        if ready is None or ready.look is not look:
            search = Search(self._index, look.memory, self._surroundings)
            uses = uses_by_person(self._surroundings, look.memory)
            ready = self._ready = _Ready(look, search, values_of(look, uses))
        return ready

    async def ambient(self) -> Found:
        """Return what the surroundings call for."""
        return await asyncio.to_thread(self._ambient)

    def _ambient(self) -> Found:
        from ricordo.notebook.ambient import ambient
        from ricordo.notebook.search import Found, Hit

        memory = self._readied().look.memory
        called = ambient(self._index, memory, self._place, self._surroundings)
        return Found(tuple(Hit(it, by_name=False) for it in called), len(called))

    async def _remember_gap(self, words: str) -> None:
        from ricordo.notebook.usage import remember_gap

        look = self._reading.look
        if look is not None:
            await asyncio.to_thread(remember_gap, self._surroundings, look.memory, words)

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
            from ricordo.notebook.usage import remember_opened

            await asyncio.to_thread(remember_opened, self._surroundings, look.memory, path)
        found = await asyncio.to_thread(self._reminded, look, path)
        await self._reading.remind(look, path, found)

    def _reminded(self, look: Look, path: str) -> list[Association]:
        from ricordo.notebook.associate import associations

        if self._reminding is None or self._reminding[0] is not look.memory:
            self._reminding = look.memory, associations(look.memory, self._surroundings)
        return self._reminding[1].of(path)
