"""What leads from the main screen to another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from ricordo.notebook.open import Notebook
from ricordo.tui.messages import MemoriesRequested
from ricordo.tui.screens.load import LoadScreen

if TYPE_CHECKING:
    from ricordo.tui.palette import Palette
    from ricordo.tui.reading import Reading


class Elsewhere:
    """The keys that open another screen."""

    def __init__(
        self,
        screen: Screen[Any],
        notebook: Notebook,
        reading: Reading,
        palette: Callable[[], Palette],
    ) -> None:
        """`reading` tells what is looked at in the memory of `notebook`."""
        self._screen = screen
        self._notebook = notebook
        self._reading = reading
        self._palette = palette

    def do_load(self) -> None:
        """What the agent gets."""
        if self._reading.look is not None:
            self._screen.app.push_screen(LoadScreen(self._reading.look, self._palette()))

    def do_ledger(self) -> None:
        """What curation cost and bought."""
        from ricordo.tui.screens.ledger import LedgerScreen

        if self._reading.look is not None:
            # of its own for the thread: the other one is used in the follower's
            own = self._notebook.another()
            ledger = LedgerScreen(own, self._reading.look.memory, self._palette())
            self._screen.app.push_screen(ledger)

    def do_settings(self) -> None:
        """The settings, in the editor."""
        from ricordo.errors import RicordoError
        from ricordo.notebook.settle import known_names, load_settings
        from ricordo.settings.create import create_file
        from ricordo.settings.editor import editor_command
        from ricordo.settings.settings import settings_file
        from ricordo.settings.show import template
        from ricordo.tui.actions.registry import known_actions
        from ricordo.tui.editor import edit_in_terminal

        app, around, actions = self._screen.app, self._notebook.surroundings, known_actions()
        file = settings_file(around.config)
        try:
            create_file(file, template(known_names(around, actions)))
            command = editor_command(self._notebook.settings.editor, around.environ)
            edit_in_terminal(app, file, command)
            _, remarks = load_settings(around, actions)
        except RicordoError as error:
            app.notify(str(error), severity="error", markup=False, timeout=10)
            return
        for remark in remarks:
            app.notify(str(remark), severity="warning", markup=False, timeout=15)
        app.notify("The settings count from the next start on.", markup=False, timeout=5)

    def do_memories(self) -> None:
        """Another memory."""
        self._screen.post_message(MemoriesRequested())
