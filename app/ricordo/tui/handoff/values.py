"""Values of the handoff screens: the options, the draft, the finished handoff, and how much of an
earlier one is still valid.
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
    """The options of a handoff."""

    target: Agent = ANY_AGENT
    budget: int = DEFAULT
    """Tokens."""
    with_messages: bool = False
    """Whether it has every message of the user."""
    engine: EngineSettings | None = None
    """Who drafts it; None for the rules."""


@dataclass(frozen=True, slots=True)
class HandoffFacts:
    """The facts of the sessions to hand off, and the statements made from them."""

    facts: Facts
    statements: Mapping[HandoffStatement, HandoffStatement]
    """All statements with secrets redacted, whether or not they fit the budget; the values are the
    same statements unredacted, which are never shown.
    """
    draft: HandoffDraft
    """The draft of the statements."""
    listed: Listed
    """The facts as rows."""
    composed: Composed
    """The engine's result: another budget does not ask it again."""
    engine: EngineSettings | None = None
    """The engine; None for the rules."""
    cost: str = ""
    """The cost of the request just sent, visible text; "" without a request."""


@dataclass(frozen=True, slots=True)
class Made:
    """A handoff as it would be written."""

    draft: HandoffDraft
    """With the statements that are not dropped."""
    done: Finished
    """With the statements that fit the budget."""
    start: str
    """The line that starts the next agent with it."""

    @property
    def handoff(self) -> Handoff:
        """Return the handoff as a value."""
        return self.done.handoff

    @property
    def path(self) -> str:
        """Return the absolute path to which it would be written."""
        return self.draft.destination.path

    @property
    def is_there(self) -> bool:
        """Return whether a handoff by Ricordo was there when this one was drafted."""
        return self.draft.destination.handoff is not None

    @property
    def remark(self) -> str:
        """Return why the path is not HANDOFF.md; "" if it is."""
        return self.draft.destination.remark


@dataclass(frozen=True, slots=True)
class Earlier:
    """A file that may be a handoff."""

    path: str
    """Absolute."""
    name: str
    """Its path in the project, or its absolute path outside."""


@dataclass(frozen=True, slots=True)
class HandoffStatus:
    """How much of a handoff is still valid."""

    found: Resumption | None
    """None if the file is not a handoff by Ricordo."""
    why: str = ""
    """Why the file cannot be read as a handoff."""

    @property
    def resumed(self) -> Resumed | None:
        """Return the statements with what became of them; None if it is not a handoff."""
        return self.found.resumed if self.found else None


@dataclass(slots=True)
class Shared:
    """State that outlives the screen of one draft."""

    line: str = ""
    """The last command that a handoff was piped to."""
