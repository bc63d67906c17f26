"""What lies behind a memory: the history that is written while it is open, and the screens that
look back into it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ricordo.notebook.open import Notebook

if TYPE_CHECKING:
    from textual.screen import Screen

    from ricordo.memory.change_set import ChangeSet
    from ricordo.notebook.follow import Follower
    from ricordo.notebook.recording import Kept
    from ricordo.tui.palette import Palette
    from ricordo.tui.reading import Reading


Write = Callable[["ChangeSet"], Awaitable[bool]]
"""Takes a change set that the person has seen to the disk; gives whether it was written."""


class Past:
    """The history of the memory that a screen shows."""

    def __init__(
        self,
        screen: Screen[Any],
        notebook: Notebook,
        follower: Follower,
        reading: Reading,
        palette: Callable[[], Palette],
        changed: Callable[[], None],
        write: Write,
    ) -> None:
        """`notebook` belongs to `follower`; `changed` is called when another number of arrivals
        waits; `write` takes to the disk what was seen on one of the screens.
        """
        self._screen = screen
        # a notebook of their own for the screens: the other one is used in the follower's threads
        self._notebook = Notebook(notebook.place, notebook.surroundings, notebook.settings)
        self._follower = follower
        self._reading = reading
        self._palette = palette
        self._tell_changed = changed
        self._write = write
        self.new = 0
        """How many arrivals wait in the inbox."""
        self.counted = False
        """Whether the history was asked for that number."""

    async def follow(self) -> None:
        """Tell what the history says, for as long as the screen is there."""
        async for kept in self._follower.kept():
            # by the screen itself, which no longer listens once it is being closed
            self._screen.call_later(self._kept, kept)

    def _kept(self, kept: Kept) -> None:
        from ricordo.tui.screens.inbox import InboxScreen

        for notice in kept.notices:
            self._screen.app.notify(notice, markup=False)
        for warning in kept.warnings:
            self._screen.app.notify(warning, severity="warning", markup=False, timeout=10)
        self.new, self.counted = kept.new, True
        self._tell_changed()
        look = self._reading.look
        if kept.has_renamed and look is not None and look.marked:
            # what protected a note has followed it
            self._follower.judge()
        if kept.is_other and isinstance(self._screen.app.screen, InboxScreen):
            self._screen.app.screen.refresh_arrivals()

    def do_inbox(self) -> None:
        """What came since the last visit."""
        from ricordo.tui.screens.inbox import InboxScreen

        inbox = InboxScreen(self._notebook, self._palette(), self._write, self._follower.count_anew)
        self._screen.app.push_screen(inbox)

    def do_history(self) -> None:
        """The versions of the open note, or the notes that are gone."""
        from ricordo.tui.screens.history import HistoryScreen

        history = HistoryScreen(self._notebook, self._reading.path, self._palette(), self._write)
        self._screen.app.push_screen(history)
