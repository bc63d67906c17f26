"""What the screens of handing off have done, as values: what is asked for, what comes of it, and
how true a handoff still is that was written before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ricordo.agents.agent import Agent
from ricordo.handoff.budget import DEFAULT
from ricordo.handoff.document import ANY_AGENT, Handoff, HandoffStatement
from ricordo.handoff.facts import Facts
from ricordo.handoff.resume import Resumed

if TYPE_CHECKING:
    from ricordo.services.handoff.handoff import Composed, HandoffDraft
    from ricordo.services.handoff.output import Finished
    from ricordo.services.handoff.resume import Resumption
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.handoff.fact_rows import Listed


@dataclass(frozen=True, slots=True)
class Ask:
    """How a handoff is wished."""

    target: Agent = ANY_AGENT
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


@dataclass(slots=True)
class Shared:
    """What outlasts the screen of one draft."""

    line: str = ""
    """The command that a handoff was piped to last."""
