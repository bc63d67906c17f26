"""Knowing more than the notes say: the evidence that is gathered while a memory is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.screen import Screen

    from ricordo.notebook.follow import Follower


class Knowing:
    """How far the evidence on the memory of a screen is gathered."""

    def __init__(
        self,
        screen: Screen[Any],
        follower: Follower,
        changed: Callable[[], None],
        gathered: Callable[[], None],
    ) -> None:
        """`changed` is called whenever something else is being gathered, `gathered` when all is."""
        self._screen = screen
        self._follower = follower
        self._tell_changed = changed
        self._tell_gathered = gathered
        self.doing = ""
        """What is being gathered, in a few words; "" where nothing is."""

    async def follow(self) -> None:
        """Tell it for as long as the screen is there."""
        async for come in self._follower.gathered():
            if come.doing != self.doing:
                self.doing = come.doing
                # by the screen itself, which no longer listens once it is being closed
                self._screen.call_later(self._tell_changed)
            for notice in come.notices:
                self._screen.app.notify(notice, severity="warning", markup=False, timeout=10)
            if not come.doing:
                self._screen.call_later(self._tell_gathered)
