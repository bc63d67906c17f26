"""Handing a draft on: it is written, copied, piped, and picked up by the next agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ricordo.errors import RicordoError
from ricordo.text import clip
from ricordo.tui.base.list_diff_screen import RevertActions

if TYPE_CHECKING:
    from ricordo.tui.actions.handlers import Handlers
    from ricordo.tui.handoff.drafter import Drafter
    from ricordo.tui.handoff.options import DraftHost
    from ricordo.tui.handoff.values import Made, Shared


class HandoffActions(RevertActions, Protocol):
    """What the notebook does for a handoff."""

    async def edit_text(self, name: str, text: str, use: Callable[[str], Awaitable[None]]) -> None:
        """Open a text in the person's editor as a file that is called `name`, and hand what was
        saved, where it is another one, to `use`. Raises RicordoError, nothing being lost.
        """


class HandingOn:
    """What becomes of the draft on a screen."""

    def __init__(
        self, screen: DraftHost, drafter: Drafter, hands: HandoffActions, shared: Shared
    ) -> None:
        """`shared` is what outlasts the screen."""
        self._screen = screen
        self._drafter = drafter
        self._hands = hands
        self._shared = shared
        self._one_at_a_time = asyncio.Lock()

    def begin(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work`, which may write, once what was begun before is done."""
        # not exclusive: what comes next must not cut off what is being written
        self._screen.run_worker(self._in_turn(work), group="in turn")

    async def _in_turn(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work`; say why where it could not be done."""
        async with self._one_at_a_time:
            try:
                await work()
            except RicordoError as error:
                self._screen.notify(str(error), severity="error", markup=False, timeout=10)

    @property
    def _made(self) -> Made:
        made = self._screen.made
        assert made is not None, "it is refused until there is a draft"
        return made

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "write": self.write,
            "undo": self.undo,
            "redo": self.redo,
            "copy": self.copy,
            "pick-up": self.add_pick_up,
            "pipe": self.pipe_handoff,
        }

    def write(self) -> None:
        """Write it."""
        self.begin(partial(self._write, self._made))

    async def _write(self, made: Made) -> None:
        change_set = await asyncio.to_thread(self._drafter.plan, made)
        if await self._hands.write_seen(change_set):
            self._screen.wrote(made)
            said = f"Written to {clip(made.path, 80)}. u takes it back."
            self._screen.notify(said, markup=False, timeout=6)

    def undo(self) -> None:
        """Take the last act back."""
        self.begin(partial(self._turn, self._hands.undo_last))

    def redo(self) -> None:
        """Do again what was undone last."""
        self.begin(partial(self._turn, self._hands.redo_last))

    async def _turn(self, turn: Callable[[], Awaitable[frozenset[str]]]) -> None:
        if await turn():
            self._screen.turned()

    def copy(self) -> None:
        """Copy all of it."""
        self._screen.copy_text(self._made.done.text)

    def add_pick_up(self) -> None:
        """Show what makes the next agent read it by itself."""
        self.begin(partial(self._pick_up, self._made))

    async def _pick_up(self, made: Made) -> None:
        change_set = await asyncio.to_thread(self._drafter.pick_up, made)
        title = f"{made.handoff.head.target.shown} reads it at every start"
        approved = await self._hands.propose(title, change_set)
        if approved is not None and await self._hands.write_seen(approved):
            self._screen.notify("Written. u takes it back.", markup=False, timeout=5)

    def pipe_handoff(self) -> None:
        """Give it to a command."""
        from ricordo.tui.handoff.pipe_screen import pipe

        screen, shared = self._screen, self._shared
        pipe(screen.app, self._drafter.run, self._made.done.text, screen.styles_now(), shared)
