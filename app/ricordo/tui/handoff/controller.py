"""The handoff key: opens the handoff screens, and keeps the decisions made on them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ricordo.agents.transcripts.session import Session
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.tui.actions.bindings import Handlers
    from ricordo.tui.base.action_screen import ActionScreen, NotebookActions
    from ricordo.tui.handoff.draft import DraftDecisions, DraftOptions
    from ricordo.tui.handoff.drafter import Drafter


class HandoffController:
    """Opens the handoff screens for the memory that a screen shows."""

    def __init__(
        self, screen: ActionScreen[Any], notebook: Notebook, actions: NotebookActions
    ) -> None:
        """`actions` is what the screens can do to the memory."""
        self._screen = screen
        self._notebook = notebook
        self._actions = actions
        self._options: DraftOptions | None = None

    # Decisions outlive the screens; they are loaded with the first screen.

    @cached_property
    def _decisions(self) -> DraftDecisions:
        from ricordo.tui.handoff.draft import DraftDecisions

        return DraftDecisions()

    @cached_property
    def _drafter(self) -> Drafter:
        from ricordo.tui.handoff.drafter import Drafter

        return Drafter(self._notebook)

    @property
    def handlers(self) -> Handlers:
        return {
            "hand-off": self.open_sessions,
        }

    def open_sessions(self) -> None:
        """Show the sessions to hand off, and how much of earlier handoffs is still valid."""
        from ricordo.tui.handoff.sessions_screen import SessionsScreen

        screen = self._screen
        styles, keymap = screen.current_palette(), screen.keymap
        screen.app.push_screen(
            SessionsScreen(self._drafter, self._draft, self._actions, styles, keymap)
        )

    def _draft(self, sessions: Sequence[Session]) -> None:
        from ricordo.tui.handoff.draft import DraftOptions
        from ricordo.tui.handoff.screen import HandoffScreen

        screen = self._screen
        draft = HandoffScreen(
            sessions,
            self._options or DraftOptions(),
            self._drafter,
            self._decisions,
            self._actions,
            screen.current_palette(),
            screen.keymap,
        )

        def left(_: None) -> None:
            self._options = draft.options

        screen.app.push_screen(draft, left)
