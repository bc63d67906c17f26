"""How a handoff is wished: for whom, how long, with what, and put together by whom."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.handoff.document import Target
from ricordo.notebook.handing_off import RULES
from ricordo.tui.screens.form import Field, Filled, FormScreen

if TYPE_CHECKING:
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.drafter import Drafter
    from ricordo.tui.screens.handoff import HandoffScreen

_LEAST, _MOST = 500, 200_000
"""Tokens that a budget may have."""
_BUDGETS = ("2000", "4000", "8000", "16000")


class Wishing:
    """The keys that change the wish of one screen; what comes of it is drafted at once."""

    def __init__(self, screen: HandoffScreen, drafter: Drafter) -> None:
        """`screen` shows the draft."""
        self._screen = screen
        self._drafter = drafter

    def do_for_whom(self) -> None:
        """For the next agent."""
        ask, targets = self._screen.ask, list(Target)
        target = targets[(targets.index(ask.target) + 1) % len(targets)]
        self._screen.again(replace(ask, target=target))

    def do_messages(self) -> None:
        """With every message of the person, or without."""
        ask = self._screen.ask
        said = "only what matters of them" if ask.with_messages else "every message of yours"
        self._screen.notify(f"With {said}.", markup=False, timeout=3)
        self._screen.again(replace(ask, with_messages=not ask.with_messages))

    def do_budget(self) -> None:
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

    def do_engine(self) -> None:
        """Choose who drafts it."""
        self._screen.run_worker(self._choose(), group="engine")

    async def _choose(self) -> None:
        from ricordo.tui.screens.engine import EngineScreen

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
