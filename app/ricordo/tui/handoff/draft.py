"""The user's decisions on a draft: statements dropped and reworded. Nothing is written here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from ricordo.handoff.document import HandoffStatement, StatementSection


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
        """Start without statements."""
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
