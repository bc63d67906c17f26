"""What the notebook recalls: the finder, and what the open note reminds of."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ricordo.notebook.open import Look, Notebook
from ricordo.tui.messages import NoteRequested

if TYPE_CHECKING:
    from textual.screen import Screen

    from ricordo.agents.place import Place
    from ricordo.memory.memory import Memory
    from ricordo.notebook.associate import Association, Associations
    from ricordo.notebook.search_all import PlacedHit
    from ricordo.tui.palette import Palette
    from ricordo.tui.reading import Reading
    from ricordo.tui.screens.finder import FinderScreen, InVain
    from ricordo.tui.source import Everywhere, Here

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
        reading: Reading,
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
        from ricordo.tui.source import Here

        return Here(self._notebook, self._reading, lambda: self._is_left)

    @cached_property
    def _everywhere(self) -> Everywhere:
        from ricordo.tui.source import Everywhere

        return Everywhere(self._notebook, lambda: self._is_left)

    def leave(self) -> None:
        """Let nobody wait for an index: who needs it next makes it."""
        self._is_left = True

    def looked(self, look: Look) -> None:
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

    def do_finder(self) -> None:
        """Find notes while words are typed."""
        from ricordo.tui.screens.finder import FinderScreen

        if self._reading.look is not None:
            self._finder = FinderScreen((self._here, self._everywhere), self._palette())
            self._screen.app.push_screen(self._finder, self._found)

    def _found(self, chosen: PlacedHit | InVain | None) -> None:
        from ricordo.notebook.recall import line_of_passage
        from ricordo.tui.screens.finder import InVain

        self._finder = None
        if isinstance(chosen, InVain):
            self._run(partial(self._remember_gap, chosen.words), "gap")
        elif chosen is not None:
            result = chosen.hit.result
            self._open_found(chosen.place, result.note.path, line_of_passage(result))

    def _open_found(self, place: Place, path: str, line: int) -> None:
        if place.root == self._notebook.place.root:
            self._open_note(path, line)
        else:
            self._screen.post_message(NoteRequested(place, path, line))

    async def _remember_gap(self, words: str) -> None:
        from ricordo.notebook.usage import remember_gap
        from ricordo.recall.query import parse

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
            from ricordo.notebook.usage import remember_opened

            await asyncio.to_thread(remember_opened, self._surroundings, look.memory, path)
        found = await asyncio.to_thread(self._reminded, look, path)
        await self._reading.remind(look, path, found)

    def _reminded(self, look: Look, path: str) -> list[Association]:
        from ricordo.notebook.associate import associations

        if self._reminding is None or self._reminding[0] is not look.memory:
            self._reminding = look.memory, associations(look.memory, self._surroundings)
        return self._reminding[1].of(path)
