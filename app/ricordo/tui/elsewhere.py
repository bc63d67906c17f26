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

    def do_memories(self) -> None:
        """Another memory."""
        self._screen.post_message(MemoriesRequested())
