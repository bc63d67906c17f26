"""Values of the handoff screens: the options, the draft, the finished handoff, and how much of an
earlier one is still valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ricordo.agents.agent import Agent
from ricordo.handoff.budget import DEFAULT_BUDGET
from ricordo.handoff.document import ANY_AGENT, Handoff, HandoffStatement
from ricordo.handoff.facts import Facts
from ricordo.handoff.resume import RecheckedHandoff

if TYPE_CHECKING:
    from ricordo.services.handoff.handoff import ComposedStatements, HandoffDraft
    from ricordo.services.handoff.output import RenderedHandoff
    from ricordo.services.handoff.resume import ResumeReport
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.handoff.fact_rows import FactTable


@dataclass(frozen=True, slots=True)
class DraftOptions:
    """The options of a handoff."""

    target: Agent = ANY_AGENT
    budget: int = DEFAULT_BUDGET
    """Tokens."""
    with_messages: bool = False
    """Whether it has every message of the user."""
    engine: EngineSettings | None = None
    """Who drafts it; None for the rules."""


@dataclass(frozen=True, slots=True)
class DraftedHandoff:
    """The facts of the sessions to hand off, and the statements made from them."""

    facts: Facts
    statements: Mapping[HandoffStatement, HandoffStatement]
    """All statements with secrets redacted, whether or not they fit the budget; the values are the
    same statements unredacted, which are never shown.
    """
    draft: HandoffDraft
    """The draft of the statements."""
    fact_table: FactTable
    """The facts as rows."""
    composed: ComposedStatements
    """The engine's result: another budget does not ask it again."""
    engine: EngineSettings | None = None
    """The engine; None for the rules."""
    cost: str = ""
    """The cost of the request just sent, visible text; "" without a request."""


@dataclass(frozen=True, slots=True)
class FinishedHandoff:
    """A handoff as it would be written."""

    draft: HandoffDraft
    """With the statements that are not dropped."""
    output: RenderedHandoff
    """With the statements that fit the budget."""
    start_line: str
    """The line that starts the next agent with it."""

    @property
    def handoff(self) -> Handoff:
        """Return the handoff as a value."""
        return self.output.handoff

    @property
    def path(self) -> str:
        """Return the absolute path to which it would be written."""
        return self.draft.destination.path

    @property
    def exists(self) -> bool:
        """Return whether a handoff by Ricordo was there when this one was drafted."""
        return self.draft.destination.handoff is not None

    @property
    def warning(self) -> str:
        """Return why the path is not HANDOFF.md; "" if it is."""
        return self.draft.destination.warning


@dataclass(frozen=True, slots=True)
class EarlierHandoff:
    """A file that may be a handoff."""

    path: str
    """Absolute."""
    name: str
    """Its path in the project, or its absolute path outside."""


@dataclass(frozen=True, slots=True)
class HandoffStatus:
    """How much of a handoff is still valid."""

    resumption: ResumeReport | None
    """None if the file is not a handoff by Ricordo."""
    error: str = ""
    """Why the file cannot be read as a handoff."""

    @property
    def resumed(self) -> RecheckedHandoff | None:
        """Return the statements with what became of them; None if it is not a handoff."""
        return self.resumption.rechecked if self.resumption else None


@dataclass(slots=True)
class PipeState:
    """State that outlives the screen of one draft."""

    last_command: str = ""
    """The last command that a handoff was piped to."""
