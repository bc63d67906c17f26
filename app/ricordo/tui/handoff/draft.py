"""The draft of a handoff: its options, the statements, and what the user decided on them; and how
much of an earlier handoff is still valid. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from ricordo.agents.agent import Agent
from ricordo.handoff.budget import DEFAULT_BUDGET
from ricordo.handoff.document import ANY_AGENT, Handoff, HandoffStatement, StatementSection
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


class StatementChoice(Enum):
    """What becomes of a statement when the handoff is written."""

    INCLUDED = auto()
    DROPPED = auto()
    """The user dropped it."""
    OVER_BUDGET = auto()
    """The budget has no room for it."""


@dataclass(frozen=True, slots=True)
class DraftStatement:
    """One statement of a draft."""

    statement: HandoffStatement
    """As it would be written."""
    choice: StatementChoice
    is_reworded: bool
    """Whether it is in the user's own words."""
    key: StatementKey
    """Identifies it among the statements of its draft."""


StatementKey = tuple[StatementSection, str, tuple[str, ...], str]
"""A statement as it was composed: its section, its text, the ids of its facts, and the beginning
of its quote (the length of a quote depends on the budget).
"""
_QUOTED = 40
"""Characters of the quote in a key."""


class DraftDecisions:
    """The statements of a draft with the user's decisions. A decision stays when the draft is
    composed again, for another agent or with another budget.
    """

    def __init__(self) -> None:
        self._composed: tuple[HandoffStatement, ...] = ()
        self._dropped: set[StatementKey] = set()
        self._reworded: dict[StatementKey, HandoffStatement] = {}

    def set_statements(self, statements: Iterable[HandoffStatement]) -> None:
        """Replace the composed statements."""
        self._composed = tuple(statements)

    @property
    def wanted(self) -> tuple[HandoffStatement, ...]:
        """Return the statements that are not dropped, whether or not there is room for them."""
        return tuple(
            statement for key, statement in self._apply_rewording() if key not in self._dropped
        )

    def list_statements(
        self, order: Sequence[StatementSection], written: Iterable[HandoffStatement]
    ) -> list[DraftStatement]:
        """Return the statements in the order of their sections; `written` are those that fit the
        budget.
        """
        has_room = frozenset((each.section, each.text, each.quote) for each in written)
        drafted = [
            DraftStatement(
                each, self._choose_place(key, each, has_room), key in self._reworded, key
            )
            for key, each in self._apply_rewording()
        ]
        return sorted(drafted, key=lambda each: order.index(each.statement.section))

    def _apply_rewording(self) -> list[tuple[StatementKey, HandoffStatement]]:
        keyed = ((key_of(statement), statement) for statement in self._composed)
        return [(key, self._reworded.get(key, statement)) for key, statement in keyed]

    def _choose_place(
        self,
        key: StatementKey,
        statement: HandoffStatement,
        has_room: Collection[tuple[StatementSection, str, str]],
    ) -> StatementChoice:
        if key in self._dropped:
            return StatementChoice.DROPPED
        return (
            StatementChoice.INCLUDED
            if (statement.section, statement.text, statement.quote) in has_room
            else StatementChoice.OVER_BUDGET
        )

    # Decisions

    def toggle_dropped(self, key: StatementKey) -> bool:
        """Drop a statement, or include it again; return whether it is dropped now."""
        self._dropped ^= {key}
        return key in self._dropped

    def reword(self, key: StatementKey, text: str) -> HandoffStatement | None:
        """Return the statement with the user's `text`: without quote and without proof so far. None
        if the text is empty or unchanged; then the composed statement is restored.
        """
        composed = next(statement for statement in self._composed if key_of(statement) == key)
        self._reworded.pop(key, None)
        if not text or text == " ".join(text_of(composed).split()):
            return None
        return replace(composed, text=text, proof=None, quote="")

    def set_reworded(self, key: StatementKey, statement: HandoffStatement) -> None:
        """Put a statement in the user's own words in the place of the composed one."""
        self._reworded[key] = statement
        self._dropped.discard(key)


def key_of(statement: HandoffStatement) -> StatementKey:
    """Return the key of a composed statement."""
    quoted = statement.quote[:_QUOTED]
    return statement.section, statement.text, statement.fact_ids, quoted


def text_of(statement: HandoffStatement) -> str:
    """Return the text of a statement for the editor: its words and its quote."""
    return "\n".join(filter(None, (statement.text, statement.quote)))
