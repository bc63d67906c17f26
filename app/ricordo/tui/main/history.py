"""What lies behind a memory: the history that is written while it is open, and the screens that
look back into it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ricordo.services.workspace.notebook import Notebook

if TYPE_CHECKING:
    from textual.screen import Screen

    from ricordo.services.history.live_recorder import RecordedState
    from ricordo.services.workspace.follower import Follower
    from ricordo.tui.actions.handlers import Handlers
    from ricordo.tui.base.list_diff_screen import RevertActions
    from ricordo.tui.base.reading import OpenNote
    from ricordo.tui.color_palette import Palette


class Past:
    """The history of the memory that a screen shows."""

    def __init__(
        self,
        screen: Screen[Any],
        notebook: Notebook,
        follower: Follower,
        reading: OpenNote,
        palette: Callable[[], Palette],
        changed: Callable[[], None],
        actions: RevertActions,
    ) -> None:
        """`notebook` belongs to `follower`; `changed` is called when another number of arrivals
        waits; `actions` is what the screens have done to the memory.
        """
        self._screen = screen
        # a notebook of their own for the screens: the other one is used in the follower's threads
        self._notebook = notebook.another()
        self._follower = follower
        self._reading = reading
        self._palette = palette
        self._tell_changed = changed
        self._actions = actions
        self.new = 0
        """How many arrivals wait in the inbox."""
        self.counted = False
        """Whether the history was asked for that number."""

    async def follow(self) -> None:
        """Tell what the history says, for as long as the screen is there."""
        async for kept in self._follower.kept():
            # by the screen itself, which no longer listens once it is being closed
            self._screen.call_later(self._kept, kept)

    def _kept(self, kept: RecordedState) -> None:
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
        if kept.is_other:
            self.known()

    def known(self) -> None:
        """Let the inbox tell who wrote what, as far as that is known now."""
        from ricordo.tui.inbox.screen import InboxScreen

        if isinstance(self._screen.app.screen, InboxScreen):
            self._screen.app.screen.refresh_arrivals()

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "inbox": self.open_inbox,
            "origin": self.open_origin,
            "history": self.open_history,
        }

    def open_inbox(self) -> None:
        """What came since the last visit."""
        from ricordo.tui.inbox.screen import InboxScreen

        keymap, changed = self._notebook.settings.keymap, self._follower.count_anew
        inbox = InboxScreen(self._notebook, self._palette(), keymap, self._actions, changed)
        self._screen.app.push_screen(inbox)

    def open_origin(self) -> None:
        """What caused the open note."""
        from ricordo.services.sessions.quotes import causes_of_note
        from ricordo.tui.dialogs.origin import OriginScreen

        keymap, look = self._notebook.settings.keymap, self._reading.look
        if look is not None:
            path = self._reading.path
            find = partial(causes_of_note, self._notebook, look.memory, path)
            self._screen.app.push_screen(OriginScreen(path, find, self._palette(), keymap))

    def open_history(self) -> None:
        """The versions of the open note, or the notes that are gone."""
        from ricordo.tui.history.screen import HistoryScreen

        keymap, path = self._notebook.settings.keymap, self._reading.path
        history = HistoryScreen(self._notebook, path, self._palette(), keymap, self._actions)
        self._screen.app.push_screen(history)
