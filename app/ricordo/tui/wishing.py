"""How a handoff is wished: for whom, how long, with what, and put together by whom."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.handoff.document import Target
from ricordo.tui.screens.form import Field, Filled, FormScreen

if TYPE_CHECKING:
    from ricordo.tui.screens.handoff import HandoffScreen

_LEAST, _MOST = 500, 200_000
"""Tokens that a budget may have."""
_BUDGETS = ("2000", "4000", "8000", "16000")


class Wishing:
    """The keys that change the wish of one screen; what comes of it is drafted at once."""

    def __init__(self, screen: HandoffScreen) -> None:
        """`screen` shows the draft."""
        self._screen = screen

    def do_for_whom(self) -> None:
        """For the next agent."""
        ask, targets = self._screen.ask, list(Target)
        target = targets[(targets.index(ask.target) + 1) % len(targets)]
        self._screen.ask = replace(ask, target=target)
        self._screen.again("drafting")

    def do_messages(self) -> None:
        """With every message of the person, or without."""
        ask = self._screen.ask
        self._screen.ask = replace(ask, with_messages=not ask.with_messages)
        said = "only what matters of them" if ask.with_messages else "every message of yours"
        self._screen.notify(f"With {said}.", markup=False, timeout=3)
        self._screen.again("drafting")

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
        self._screen.ask = replace(self._screen.ask, budget=int(typed))
        self._screen.again("drafting")
