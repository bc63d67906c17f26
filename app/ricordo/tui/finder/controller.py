"""Opens the finder, keeps its index up to date, and finds the associations of the open note."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.tui.messages import NoteRequested
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.agents.agent import MemoryPlace
    from ricordo.memory.memory import Memory
    from ricordo.search.association import Association, Associations
    from ricordo.services.search.search import PlacedHit
    from ricordo.tui.actions.bindings import Handlers
    from ricordo.tui.base.action_screen import ActionScreen
    from ricordo.tui.base.open_note import OpenNote
    from ricordo.tui.finder.screen import FinderScreen, FruitlessSearch
    from ricordo.tui.finder.search import AllMemoriesSource, ThisMemorySource

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
        screen: ActionScreen[Any],
        notebook: Notebook,
        reading: OpenNote,
        open_note: Callable[[str, int], None],
    ) -> None:
        """`reading` knows the open note; `open_note` is called with the path of a hit and the line
        of its passage.
        """
        self._screen = screen
        self._notebook = notebook
        self._environment = notebook.environment
        self._reading = reading
        self._open_note = open_note
        self._reminding: tuple[Memory, Associations] | None = None
        self._touched = 0.0
        self._is_left = False
        self._finder: FinderScreen | None = None

    # Imported late: the first paint need not wait for the search.

    @cached_property
    def _here(self) -> ThisMemorySource:
        from ricordo.tui.finder.search import ThisMemorySource

        return ThisMemorySource(self._notebook, self._reading, lambda: self._is_left)

    @cached_property
    def _everywhere(self) -> AllMemoriesSource:
        from ricordo.tui.finder.search import AllMemoriesSource

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
        return {
            "finder": self.open_finder,
        }

    def open_finder(self) -> None:
        """Open the finder."""
        from ricordo.tui.finder.screen import FinderScreen

        if self._reading.snapshot is not None:
            self._finder = FinderScreen(
                (self._here, self._everywhere), self._screen.current_palette()
            )
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
        from ricordo.search.query import join_words
        from ricordo.services.search.usage import remember_search_miss

        snapshot, missed = self._reading.snapshot, join_words(words)
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
        start_worker(self._screen, work, group=group, exclusive=True)

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
