"""What the screens of handing off have done, as values: what is asked for, what comes of it, and
how true a handoff still is that was written before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ricordo.handoff.budget import DEFAULT
from ricordo.handoff.document import Handoff, HandoffStatement, HandoffTarget
from ricordo.handoff.facts import Facts
from ricordo.handoff.resume import Resumed
from ricordo.services.handoff.handoff import RULES
from ricordo.tui.dialogs.form import Field, Filled, FormScreen

if TYPE_CHECKING:
    from ricordo.services.handoff.handoff import Composed, HandoffDraft
    from ricordo.services.handoff.output import Finished
    from ricordo.services.handoff.resume import Resumption
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.actions.handlers import Handlers
    from ricordo.tui.handoff.controller import Drafter
    from ricordo.tui.handoff.fact_rows import Listed
    from ricordo.tui.handoff.screen import HandoffScreen


@dataclass(frozen=True, slots=True)
class Ask:
    """How a handoff is wished."""

    target: HandoffTarget = HandoffTarget.ANY
    budget: int = DEFAULT
    """Tokens."""
    with_messages: bool = False
    """Whether every message of the person is to stand in it."""
    engine: EngineSettings | None = None
    """Who drafts it; None for the rules."""


@dataclass(frozen=True, slots=True)
class HandoffFacts:
    """What is known of the sessions that are handed off, and the statements made of it."""

    facts: Facts
    statements: Mapping[HandoffStatement, HandoffStatement]
    """All of them, whatever room they take, as they would be written; each with what it is with its
    secrets, which nobody is shown.
    """
    draft: HandoffDraft
    """What they come from."""
    listed: Listed
    """The facts as rows."""
    composed: Composed
    """What an engine made of the facts: it is not asked again for another budget."""
    engine: EngineSettings | None = None
    """Which; None for the rules."""
    cost: str = ""
    """What asking it did cost, visible text; "" where nothing was asked just now."""


@dataclass(frozen=True, slots=True)
class Made:
    """A handoff as it would be written."""

    draft: HandoffDraft
    """Of what the person wants."""
    done: Finished
    """As much of it as there is room for."""
    start: str
    """The line that starts the next agent with it."""

    @property
    def handoff(self) -> Handoff:
        """What would be written, as a value."""
        return self.done.handoff

    @property
    def path(self) -> str:
        """Where it would be written, absolute."""
        return self.draft.destination.path

    @property
    def is_there(self) -> bool:
        """Whether a handoff of ours stood there when it was drafted."""
        return self.draft.destination.handoff is not None

    @property
    def remark(self) -> str:
        """Why it is written elsewhere than to HANDOFF.md; "" where it is not."""
        return self.draft.destination.remark


@dataclass(frozen=True, slots=True)
class Earlier:
    """A file that may be a handoff."""

    path: str
    """Absolute."""
    name: str
    """As the person knows it, such as its path in the project."""


@dataclass(frozen=True, slots=True)
class HandoffStatus:
    """How true a handoff still is."""

    found: Resumption | None
    """None where it is not ours."""
    why: str = ""
    """Why it is not."""

    @property
    def resumed(self) -> Resumed | None:
        """What still holds of it."""
        return self.found.resumed if self.found else None


_LEAST, _MOST = 500, 200_000
"""Tokens that a budget may have."""
_BUDGETS = ("2000", "4000", "8000", "16000")


class Wishing:
    """The keys that change the wish of one screen; what comes of it is drafted at once."""

    def __init__(self, screen: HandoffScreen, drafter: Drafter) -> None:
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
        ask, targets = self._screen.ask, list(HandoffTarget)
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
