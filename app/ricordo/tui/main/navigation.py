"""The keys of the notebook that open another screen, and how much new there is in the inbox."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ricordo.services.workspace.places import is_other_folder
from ricordo.tui.base.action_screen import NotebookController, NotebookParts
from ricordo.tui.dialogs.text_page import LoadScreen, TextScreen
from ricordo.tui.messages import MemoriesRequested

if TYPE_CHECKING:
    from ricordo.services.history.live_recorder import RecordedState
    from ricordo.tui.actions.bindings import Handlers
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.widgets.freshness_list import FreshnessList


class NavigationActions(NotebookController):
    """Opens the other screens on the memory that a screen shows."""

    def __init__(
        self, parts: NotebookParts, changed: Callable[[], None], freshness: FreshnessList
    ) -> None:
        """`freshness` knows the finding under the cursor."""
        super().__init__(parts, changed)
        self._freshness = freshness
        self.new_count = 0
        """Number of pending arrivals in the inbox."""
        self.is_counted = False
        """Whether that number is known."""

    @property
    def _palette(self) -> Palette:
        return self._screen.current_palette()

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
            "load": self.show_load,
            "explain": self.explain_rule,
            "ledger": self.show_ledger,
            "conventions": self.show_conventions,
            "settings": self.edit_settings,
            "memories": lambda: self._screen.post_message(MemoriesRequested()),
            "connect": self.connect_agents,
            "doctor": self.open_doctor,
        }

    def open_inbox(self) -> None:
        """Open the inbox."""
        from ricordo.tui.inbox.screen import InboxScreen

        keymap, changed = self._screen.keymap, self._follower.request_inbox_count
        inbox = InboxScreen(self._notebook, self._palette, keymap, self._actions, changed)
        self._screen.app.push_screen(inbox)

    def open_origin(self) -> None:
        """Show the messages that caused the open note."""
        from ricordo.services.sessions.quotes import list_note_origins
        from ricordo.tui.dialogs.origin import OriginScreen

        keymap, snapshot = self._screen.keymap, self._reading.snapshot
        if snapshot is not None:
            path = self._reading.path
            find = partial(list_note_origins, self._notebook, snapshot.memory, path)
            self._screen.app.push_screen(OriginScreen(path, find, self._palette, keymap))

    def open_history(self) -> None:
        """Show the versions of the open note, or the deleted notes."""
        from ricordo.tui.history.screen import HistoryScreen

        keymap, path = self._screen.keymap, self._reading.path
        history = HistoryScreen(self._notebook, path, self._palette, keymap, self._actions)
        self._screen.app.push_screen(history)

    def show_load(self) -> None:
        """Show what the agent loads at session start."""
        if self._reading.snapshot is not None:
            is_other = is_other_folder(self._notebook.place, self._notebook.environment)
            screen = LoadScreen(self._reading.snapshot, self._palette, is_other_folder=is_other)
            self._screen.app.push_screen(screen)

    def explain_rule(self) -> None:
        """Explain the rule of the finding under the cursor, or the rule under it."""
        from ricordo.lint.rule_page import load_rule_page
        from ricordo.services.rule_help import format_rule

        finding = self._freshness.finding
        name = finding.rule if finding is not None else self._freshness.rule
        if name:
            settings = self._notebook.settings.for_memory(self._notebook.place.root)
            page, set_to = load_rule_page(name), settings.rules.get(name, "")
            render = partial(format_rule, page, set_to=set_to)
            self._screen.app.push_screen(TextScreen(page.name, render, self._palette))

    def show_conventions(self) -> None:
        """Show how the notes of the memory are written, as it was learned."""
        from ricordo.services.workspace.conventions import format_conventions, list_conventions

        snapshot, notebook = self._reading.snapshot, self._notebook
        if snapshot is not None and snapshot.is_judged:
            lines = list_conventions(
                snapshot.memory, snapshot.conventions, notebook.place, notebook.settings
            )
            render = partial(format_conventions, lines)
            self._screen.app.push_screen(TextScreen("Conventions", render, self._palette))

    def show_ledger(self) -> None:
        """Show the cost and benefit of curation."""
        from ricordo.tui.dialogs.ledger import LedgerScreen

        if self._reading.snapshot is not None:
            # another notebook for its thread: this one is used in the follower's
            notebook = self._notebook.copy()
            ledger = LedgerScreen(notebook, self._reading.snapshot.memory, self._palette)
            self._screen.app.push_screen(ledger)

    def edit_settings(self) -> None:
        """Edit the settings in the editor."""
        from ricordo.errors import RicordoError
        from ricordo.services.workspace.settings import list_known_names, load_settings
        from ricordo.settings.editor import create_file, editor_command
        from ricordo.settings.page import make_template
        from ricordo.settings.settings import find_settings_file
        from ricordo.tui.actions.registry import list_known_actions
        from ricordo.tui.edits.editor import edit_in_terminal

        app, actions = self._screen.app, list_known_actions()
        environment = self._notebook.environment
        file = find_settings_file(environment.config)
        try:
            create_file(file, make_template(list_known_names(environment, actions)))
            command = editor_command(self._notebook.settings.editor, environment.environ)
            edit_in_terminal(app, file, command)
            _, warnings = load_settings(environment, actions)
        except RicordoError as error:
            app.notify(str(error), severity="error", markup=False, timeout=10)
            return
        for warning in warnings:
            app.notify(str(warning), severity="warning", markup=False, timeout=15)
        app.notify("The settings apply from the next start.", markup=False, timeout=5)

    def connect_agents(self, agent: str = "", closed: Callable[[], None] = lambda: None) -> None:
        """Show how agents are connected, with the one that is called `agent` chosen; `closed` is
        called afterwards.
        """
        from ricordo.tui.connect.screen import ConnectScreen

        keymap = self._screen.keymap
        screen = ConnectScreen(self._notebook.environment, self._palette, keymap, agent)
        self._screen.app.push_screen(screen, lambda _: closed())

    def open_doctor(self) -> None:
        """Show what is wrong around all memories of this machine."""
        from ricordo.tui.doctor.screen import DoctorScreen

        # a copy: the diagnosis runs in threads
        notebook, keymap = self._notebook.copy(), self._screen.keymap
        screen = DoctorScreen(notebook, self._palette, keymap, self._actions, self.connect_agents)
        self._screen.app.push_screen(screen)
