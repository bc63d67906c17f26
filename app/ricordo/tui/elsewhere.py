"""What leads from the main screen to another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

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
        reading: Reading,
        palette: Callable[[], Palette],
    ) -> None:
        """`reading` tells what is looked at."""
        self._screen = screen
        self._reading = reading
        self._palette = palette

    def do_load(self) -> None:
        """What the agent gets."""
        if self._reading.look is not None:
            self._screen.app.push_screen(LoadScreen(self._reading.look, self._palette()))

    def do_memories(self) -> None:
        """Another memory."""
        self._screen.post_message(MemoriesRequested())
