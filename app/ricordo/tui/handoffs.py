"""What the screens of handing off have done, as values: what is asked for, what comes of it, and
how true a handoff still is that was written before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ricordo.activity.session import Session
from ricordo.curator.engine import Step
from ricordo.handoff.budget import DEFAULT
from ricordo.handoff.document import Handoff, Target
from ricordo.handoff.facts import Facts
from ricordo.handoff.resume import Resumed
from ricordo.handoff.statement import Statement
from ricordo.memory.change_set import ChangeSet

if TYPE_CHECKING:
    from ricordo.model.prices import Price
    from ricordo.model.programs import Program
    from ricordo.notebook.before_draft import BeforeDraft
    from ricordo.notebook.handing_off import Composed, Draft
    from ricordo.notebook.handing_over import Finished
    from ricordo.notebook.resuming import Resumption
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.render.fact_rows import Listed


@dataclass(frozen=True, slots=True)
class Ask:
    """How a handoff is wished."""

    target: Target = Target.ANY
    budget: int = DEFAULT
    """Tokens."""
    with_messages: bool = False
    """Whether every message of the person is to stand in it."""
    engine: EngineSettings | None = None
    """Who drafts it; None for the rules."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What is known of the sessions that are handed off, and the statements made of it."""

    facts: Facts
    statements: Mapping[Statement, Statement]
    """All of them, whatever room they take, as they would be written; each with what it is with its
    secrets, which nobody is shown.
    """
    draft: Draft
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

    draft: Draft
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
class Standing:
    """How true a handoff still is."""

    found: Resumption | None
    """None where it is not ours."""
    why: str = ""
    """Why it is not."""

    @property
    def resumed(self) -> Resumed | None:
        """What still holds of it."""
        return self.found.resumed if self.found else None


class Drafter(Protocol):
    """What hands off; called in threads, one call at a time. All raise RicordoError, and what
    `step` raises.
    """

    def sessions(self, step: Step) -> Sequence[Session]:
        """Return the sessions that bear on the memory, the latest first."""

    def earlier(self) -> Sequence[Earlier]:
        """Return what may be handoffs that were written before."""

    def look_at(self, it: Earlier, step: Step) -> Standing:
        """Return how true a handoff still is."""

    def gather(self, sessions: Sequence[Session], ask: Ask, step: Step) -> Gathered:
        """Return what is known of the sessions, and the statements made of it."""

    def again(self, gathered: Gathered, ask: Ask, step: Step) -> Gathered:
        """Return statements for another wish, of the same facts, with the proofs of now."""

    def engines(self) -> tuple[Sequence[EngineSettings], EngineSettings]:
        """Return who could draft, and who was chosen last."""

    def models(self) -> Mapping[str, Price]:
        """Return the models whose price is known, by their names."""

    def look(self, facts: Facts, own: EngineSettings, step: Step) -> BeforeDraft:
        """Return what is known before an engine drafts; that it was chosen is remembered."""

    def let_run(self, program: Program) -> None:
        """Keep that a program may be run by its line."""

    def prove(self, gathered: Gathered, statement: Statement) -> Statement:
        """Return a statement in the person's own words with the proof that it has."""

    def make(self, gathered: Gathered, wanted: Sequence[Statement]) -> Made:
        """Return the handoff of what is wanted, as it would be written."""

    def plan(self, made: Made) -> ChangeSet:
        """Return what writing it comes to."""

    def pick_up(self, made: Made) -> ChangeSet:
        """Return what makes the next agent read it by itself: a change of its instructions."""

    def run(self, words: Sequence[str], text: str, step: Step) -> str:
        """Return what a command of the person's answers that is given the text."""
