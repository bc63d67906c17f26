"""Statement by statement: dropped, or worded anew by the person."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from ricordo.tui.drafting import Drafted, Drafting, text_of

if TYPE_CHECKING:
    from ricordo.tui.drafter import Drafter
    from ricordo.tui.handing_on import Hands
    from ricordo.tui.screens.handoff import HandoffScreen


class Wording:
    """The keys that decide on the statement under the cursor of a screen."""

    def __init__(
        self,
        screen: HandoffScreen,
        drafter: Drafter,
        drafting: Drafting,
        hands: Hands,
        begin: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        """`drafting` holds what was decided; `begin` does work once what was begun before is
        done.
        """
        self._screen = screen
        self._drafter = drafter
        self._drafting = drafting
        self._hands = hands
        self._begin = begin

    @property
    def _statement(self) -> Drafted:
        it = self._screen.statement
        assert it is not None, "it is refused where none is under the cursor"
        return it

    def do_no(self) -> None:
        """Drop the statement, or take it in again."""
        if self._drafting.turn(self._statement.key):
            self._screen.show()
            self._screen.go_on()
        self._screen.make()

    def do_edit(self) -> None:
        """Word the statement anew, in the person's editor."""
        self._begin(partial(self._edit, self._statement))

    async def _edit(self, it: Drafted) -> None:
        gathered = self._screen.gathered
        assert gathered is not None, "statements come of it"

        async def use(saved: str) -> None:
            own = self._drafting.word(it.key, " ".join(saved.split()))
            if own is not None:
                proved = await asyncio.to_thread(self._drafter.prove, gathered, own)
                self._drafting.take(it.key, proved)

        await self._hands.edit_text("statement.md", f"{text_of(it.statement)}\n", use)
        self._screen.make()
