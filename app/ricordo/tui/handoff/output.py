"""The output of a draft: write, copy or pipe it, and let the next agent pick it up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ricordo.errors import RicordoError
from ricordo.text import clip
from ricordo.tui.base.list_diff_screen import NotebookActions

if TYPE_CHECKING:
    from ricordo.tui.actions.bindings import Handlers
    from ricordo.tui.handoff.drafter import Drafter
    from ricordo.tui.handoff.options import DraftScreen
    from ricordo.tui.handoff.values import FinishedHandoff, PipeState


class HandoffActions(NotebookActions, Protocol):
    """What a handoff screen can do to the memory."""

    async def edit_text(self, name: str, text: str, use: Callable[[str], Awaitable[None]]) -> None:
        """Open a text in the user's editor as a file called `name`, and pass the saved text to
        `use` if it changed. Raises RicordoError; no text is lost.
        """


class OutputHandlers:
    """Handles the keys that output the draft of a screen."""

    def __init__(
        self, screen: DraftScreen, drafter: Drafter, actions: HandoffActions, shared: PipeState
    ) -> None:
        """`shared` outlives the screen."""
        self._screen = screen
        self._drafter = drafter
        self._actions = actions
        self._shared = shared
        self._one_at_a_time = asyncio.Lock()

    def begin(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work`, which may write, after the work begun before."""
        # not exclusive: later work must not cancel a write
        self._screen.run_worker(self._run_in_turn(work), group="in turn")

    async def _run_in_turn(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work`, and show its error."""
        async with self._one_at_a_time:
            try:
                await work()
            except RicordoError as error:
                self._screen.notify(str(error), severity="error", markup=False, timeout=10)

    @property
    def _made(self) -> FinishedHandoff:
        handoff = self._screen.finished
        assert handoff is not None, "disabled until there is a draft"
        return handoff

    @property
    def handlers(self) -> Handlers:
        """Return the handlers of the keys by action id."""
        return {
            "write": self.write,
            "undo": self.undo,
            "redo": self.redo,
            "copy": self.copy,
            "pick-up": self.add_pick_up,
            "pipe": self.pipe_handoff,
        }

    def write(self) -> None:
        """Write the handoff."""
        self.begin(partial(self._write, self._made))

    async def _write(self, made: FinishedHandoff) -> None:
        change_set = await asyncio.to_thread(self._drafter.plan_write, made)
        if await self._actions.write_approved(change_set):
            self._screen.record_written(made)
            message = f"Written to {clip(made.path, 80)}. u undoes it."
            self._screen.notify(message, markup=False, timeout=6)

    def undo(self) -> None:
        """Undo the last change."""
        self.begin(partial(self._run_undo_step, self._actions.undo_last))

    def redo(self) -> None:
        """Redo the change that was undone last."""
        self.begin(partial(self._run_undo_step, self._actions.redo_last))

    async def _run_undo_step(self, turn: Callable[[], Awaitable[frozenset[str]]]) -> None:
        if await turn():
            self._screen.record_undo()

    def copy(self) -> None:
        """Copy the handoff."""
        self._screen.copy_text(self._made.output.text)

    def add_pick_up(self) -> None:
        """Propose to name the handoff in the next agent's instructions."""
        self.begin(partial(self._pick_up, self._made))

    async def _pick_up(self, made: FinishedHandoff) -> None:
        change_set = await asyncio.to_thread(self._drafter.plan_pickup, made)
        title = f"{made.handoff.header.target.shown}: read the handoff at every start"
        approved = await self._actions.propose(title, change_set)
        if approved is not None and await self._actions.write_approved(approved):
            self._screen.notify("Written. u undoes it.", markup=False, timeout=5)

    def pipe_handoff(self) -> None:
        """Pipe the handoff to a command."""
        from ricordo.tui.handoff.pipe_screen import open_pipe

        screen, shared = self._screen, self._shared
        open_pipe(
            screen.app,
            self._drafter.run_command,
            self._made.output.text,
            screen.current_palette(),
            shared,
        )
