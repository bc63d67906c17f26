"""The options of a draft, and the keys that change them."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.handoff.document import handoff_targets
from ricordo.services.handoff.handoff import RULES_ENGINE
from ricordo.tui.base.action_screen import ActionScreen
from ricordo.tui.dialogs.form import Field, FormResult, FormScreen

if TYPE_CHECKING:
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.actions.bindings import Handlers
    from ricordo.tui.handoff.drafter import Drafter
    from ricordo.tui.handoff.values import DraftedHandoff, DraftOptions, FinishedHandoff


class DraftScreen(ActionScreen[None]):
    """The screen of a draft, as the handlers of its keys use it."""

    options: DraftOptions
    """The options of the draft."""
    drafted: DraftedHandoff | None
    """Facts and statements; None until they are read."""
    finished: FinishedHandoff | None
    """The draft; None before the first one."""

    @abstractmethod
    def draft_again(self, options: DraftOptions, phase: str = "drafting") -> None:
        """Draft with other options; `phase` is the progress shown on the screen."""

    @abstractmethod
    def record_written(self, finished: FinishedHandoff) -> None:
        """Show that a draft was written."""

    @abstractmethod
    def record_undo(self) -> None:
        """Show the draft after an undo or a redo."""


_LEAST, _MOST = 500, 200_000
"""Limits of a budget in tokens."""
_BUDGETS = ("2000", "4000", "8000", "16000")


class OptionHandlers:
    """Handles the keys that change the options of a screen; each drafts at once."""

    def __init__(self, screen: DraftScreen, drafter: Drafter) -> None:
        """`screen` shows the draft."""
        self._screen = screen
        self._drafter = drafter

    @property
    def handlers(self) -> Handlers:
        """Return the handlers of the keys by action id."""
        return {
            "for-whom": self.choose_next_agent,
            "messages": self.toggle_messages,
            "budget": self.ask_for_budget,
            "engine": self.choose_engine,
        }

    def choose_next_agent(self) -> None:
        """Switch to the next target agent."""
        ask, targets = self._screen.options, handoff_targets()
        target = targets[(targets.index(ask.target) + 1) % len(targets)]
        self._screen.draft_again(replace(ask, target=target))

    def toggle_messages(self) -> None:
        """Include every message of the user, or only the relevant ones."""
        ask = self._screen.options
        included = "the relevant messages" if ask.with_messages else "every message of yours"
        self._screen.notify(f"With {included}.", markup=False, timeout=3)
        self._screen.draft_again(replace(ask, with_messages=not ask.with_messages))

    def ask_for_budget(self) -> None:
        """Ask for another budget."""
        screen = self._screen
        field = Field("tokens", str(screen.options.budget), "4000", _BUDGETS)
        form = FormScreen("Budget of the handoff", [field], screen.current_palette(), "set budget")
        screen.app.push_screen(form, self._set_budget)

    def _set_budget(self, filled: FormResult | None) -> None:
        if filled is None or not filled.confirmed:
            return
        typed = filled.values["tokens"].replace(",", "").strip()
        if not typed.isdecimal() or not _LEAST <= int(typed) <= _MOST:
            message = f"Not a budget: type a number of tokens from {_LEAST:,} to {_MOST:,}."
            self._screen.notify(message, severity="warning", markup=False)
            return
        self._screen.draft_again(replace(self._screen.options, budget=int(typed)))

    def choose_engine(self) -> None:
        """Choose who drafts the handoff."""
        self._screen.run_worker(self._choose_engine(), group="engine")

    async def _choose_engine(self) -> None:
        from ricordo.tui.handoff.engine_screen import EngineScreen

        screen, gathered = self._screen, self._screen.drafted
        assert gathered is not None, "disabled until there is a draft"
        engines, chosen = await asyncio.to_thread(self._drafter.list_engines)
        styles = screen.current_palette()
        choice = EngineScreen(gathered.facts, engines, chosen, self._drafter, styles, screen.keymap)
        screen.app.push_screen(choice, self._set_engine)

    def _set_engine(self, chosen: EngineSettings | None) -> None:
        if chosen is None:
            return
        engine = None if chosen.use == RULES_ENGINE else chosen
        phase = "asking the engine" if engine else "drafting"
        self._screen.draft_again(replace(self._screen.options, engine=engine), phase)
