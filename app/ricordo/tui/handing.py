"""Handing off: the sessions that can be, the drafts of them, and what was decided of those."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ricordo.notebook.open import Notebook

if TYPE_CHECKING:
    from ricordo.activity.session import Session
    from ricordo.tui.drafter import Drafter
    from ricordo.tui.drafting import Drafting
    from ricordo.tui.handing_on import Hands, Shared
    from ricordo.tui.handoffs import Ask
    from ricordo.tui.screens.acting import ActingScreen


class Handing:
    """The handoffs of the memory that a screen shows."""

    def __init__(self, screen: ActingScreen[Any], notebook: Notebook, hands: Hands) -> None:
        """`hands` is what the screens have done to the memory."""
        self._screen = screen
        self._notebook = notebook
        self._hands = hands
        self._ask: Ask | None = None

    # What was decided outlasts the screens; all of it is loaded with the first of them.

    @cached_property
    def _drafting(self) -> Drafting:
        from ricordo.tui.drafting import Drafting

        return Drafting()

    @cached_property
    def _shared(self) -> Shared:
        from ricordo.tui.handing_on import Shared

        return Shared()

    @cached_property
    def _drafter(self) -> Drafter:
        from ricordo.tui.drafter import Drafter

        return Drafter(self._notebook)

    def do_hand_off(self) -> None:
        """Choose a session, or see how true earlier handoffs still are."""
        from ricordo.tui.screens.sessions import SessionsScreen

        screen = self._screen
        styles, keymap = screen.styles_now(), screen.keymap
        screen.app.push_screen(
            SessionsScreen(self._drafter, self._draft, self._hands, styles, keymap)
        )

    def _draft(self, sessions: Sequence[Session]) -> None:
        from ricordo.tui.handoffs import Ask
        from ricordo.tui.screens.handoff import HandoffScreen

        screen = self._screen
        draft = HandoffScreen(
            sessions,
            self._ask or Ask(),
            self._drafter,
            self._drafting,
            self._hands,
            self._shared,
            screen.styles_now(),
            screen.keymap,
        )

        def left(_: None) -> None:
            self._ask = draft.ask

        screen.app.push_screen(draft, left)
