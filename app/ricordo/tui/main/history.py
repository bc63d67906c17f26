"""The history of the memory in the notebook, and the keys that open inbox, history and origin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ricordo.services.workspace.notebook import Notebook

if TYPE_CHECKING:
    from textual.screen import Screen

    from ricordo.services.history.live_recorder import RecordedState
    from ricordo.services.workspace.follower import Follower
    from ricordo.tui.actions.bindings import Handlers
    from ricordo.tui.base.action_screen import NotebookActions
    from ricordo.tui.base.open_note import OpenNote
    from ricordo.tui.color_palette import Palette


class HistoryActions:
    """The history of the memory that a screen shows."""

    def __init__(
        self,
        screen: Screen[Any],
        notebook: Notebook,
        follower: Follower,
        reading: OpenNote,
        palette: Callable[[], Palette],
        changed: Callable[[], None],
        actions: NotebookActions,
    ) -> None:
        """`notebook` belongs to `follower`; `changed` is called when the number of pending arrivals
        changes; `actions` are what the screens call to change the memory.
        """
        self._screen = screen
        # another notebook for the screens: this one is used in the follower's threads
        self._notebook = notebook.copy()
        self._follower = follower
        self._reading = reading
        self._palette = palette
        self._on_changed = changed
        self._actions = actions
        self.new_count = 0
        """Number of pending arrivals in the inbox."""
        self.is_counted = False
        """Whether that number is known."""

    async def follow_history(self) -> None:
        """Report what was recorded in the history, as long as the screen is open."""
        async for recorded in self._follower.watch_history():
            # called by the screen, so not after it is closed
            self._screen.call_later(self._show_recorded, recorded)

    def _show_recorded(self, recorded: RecordedState) -> None:
        for notice in recorded.messages:
            self._screen.app.notify(notice, markup=False)
        for warning in recorded.warnings:
            self._screen.app.notify(warning, severity="warning", markup=False, timeout=10)
        self.new_count, self.is_counted = recorded.pending_count, True
        self._on_changed()
        snapshot = self._reading.snapshot
        if recorded.has_renamed and snapshot is not None and snapshot.protected_paths:
            # the protection of a note has followed it
            self._follower.request_judging()
        if recorded.has_changed:
            self.update_inbox()

    def update_inbox(self) -> None:
        """Update the inbox, where it is open, with the writers that are known now."""
        from ricordo.tui.inbox.screen import InboxScreen

        if isinstance(self._screen.app.screen, InboxScreen):
            self._screen.app.screen.refresh_arrivals()

    @property
    def handlers(self) -> Handlers:
        return {
            "inbox": self.open_inbox,
            "origin": self.open_origin,
            "history": self.open_history,
        }

    def open_inbox(self) -> None:
        """Open the inbox."""
        from ricordo.tui.inbox.screen import InboxScreen

        keymap, changed = self._notebook.settings.keymap, self._follower.request_inbox_count
        inbox = InboxScreen(self._notebook, self._palette(), keymap, self._actions, changed)
        self._screen.app.push_screen(inbox)

    def open_origin(self) -> None:
        """Show the messages that caused the open note."""
        from ricordo.services.sessions.quotes import list_note_origins
        from ricordo.tui.dialogs.origin import OriginScreen

        keymap, snapshot = self._notebook.settings.keymap, self._reading.snapshot
        if snapshot is not None:
            path = self._reading.path
            find = partial(list_note_origins, self._notebook, snapshot.memory, path)
            self._screen.app.push_screen(OriginScreen(path, find, self._palette(), keymap))

    def open_history(self) -> None:
        """Show the versions of the open note, or the deleted notes."""
        from ricordo.tui.history.screen import HistoryScreen

        keymap, path = self._notebook.settings.keymap, self._reading.path
        history = HistoryScreen(self._notebook, path, self._palette(), keymap, self._actions)
        self._screen.app.push_screen(history)
