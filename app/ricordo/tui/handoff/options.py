"""The options of a draft, and the keys that change them."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.handoff.document import handoff_targets
from ricordo.services.handoff.handoff import RULES
from ricordo.tui.base.acting_screen import ActingScreen
from ricordo.tui.dialogs.form import Field, Filled, FormScreen

if TYPE_CHECKING:
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.actions.handlers import Handlers
    from ricordo.tui.handoff.drafter import Drafter
    from ricordo.tui.handoff.values import Ask, HandoffFacts, Made


class DraftHost(ActingScreen[None]):
    """The screen of a draft, as the keys see it that change the draft or write it."""

    ask: Ask
    """The options of the draft."""
    gathered: HandoffFacts | None
    """What the draft is made of; None while it is being gathered."""
    made: Made | None
    """The draft; None before the first one."""

    @abstractmethod
    def again(self, ask: Ask, phase: str = "drafting") -> None:
        """Draft with other options; `phase` says on screen what goes on."""

    @abstractmethod
    def wrote(self, made: Made) -> None:
        """Show that a draft was written."""

    @abstractmethod
    def turned(self) -> None:
        """Show the draft after an undo or a redo."""


_LEAST, _MOST = 500, 200_000
"""Tokens that a budget may have."""
_BUDGETS = ("2000", "4000", "8000", "16000")


class Wishing:
    """The keys that change the wish of one screen; what comes of it is drafted at once."""

    def __init__(self, screen: DraftHost, drafter: Drafter) -> None:
        """`screen` shows the draft."""
        self._screen = screen
        self._drafter = drafter

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "for-whom": self.choose_next_agent,
            "messages": self.toggle_messages,
            "budget": self.ask_for_budget,
            "engine": self.choose_engine,
        }

    def choose_next_agent(self) -> None:
        """For the next agent."""
        ask, targets = self._screen.ask, handoff_targets()
        target = targets[(targets.index(ask.target) + 1) % len(targets)]
        self._screen.again(replace(ask, target=target))

    def toggle_messages(self) -> None:
        """With every message of the person, or without."""
        ask = self._screen.ask
        said = "only what matters of them" if ask.with_messages else "every message of yours"
        self._screen.notify(f"With {said}.", markup=False, timeout=3)
        self._screen.again(replace(ask, with_messages=not ask.with_messages))

    def ask_for_budget(self) -> None:
        """Another budget."""
        screen = self._screen
        field = Field("tokens", str(screen.ask.budget), "4000", _BUDGETS)
        form = FormScreen("How long it may be", [field], screen.styles_now(), "take it")
        screen.app.push_screen(form, self._budgeted)

    def _budgeted(self, filled: Filled | None) -> None:
        if filled is None or not filled.confirmed:
            return
        typed = filled.values["tokens"].replace(",", "").strip()
        if not typed.isdecimal() or not _LEAST <= int(typed) <= _MOST:
            said = f"A budget is a number of tokens from {_LEAST:,} to {_MOST:,}."
            self._screen.notify(said, severity="warning", markup=False)
            return
        self._screen.again(replace(self._screen.ask, budget=int(typed)))

    def choose_engine(self) -> None:
        """Choose who drafts it."""
        self._screen.run_worker(self._choose(), group="engine")

    async def _choose(self) -> None:
        from ricordo.tui.handoff.engine_screen import EngineScreen

        screen, gathered = self._screen, self._screen.gathered
        assert gathered is not None, "it is refused until there is a draft"
        engines, own = await asyncio.to_thread(self._drafter.engines)
        styles = screen.styles_now()
        choice = EngineScreen(gathered.facts, engines, own, self._drafter, styles, screen.keymap)
        screen.app.push_screen(choice, self._chosen)

    def _chosen(self, own: EngineSettings | None) -> None:
        if own is None:
            return
        engine = None if own.use == RULES else own
        phase = "asking" if engine else "drafting"
        self._screen.again(replace(self._screen.ask, engine=engine), phase)
