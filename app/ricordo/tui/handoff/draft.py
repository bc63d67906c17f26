"""Drafting a handoff: what the person drops and words anew. Nothing of it is written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from ricordo.handoff.document import HandoffStatement, StatementSection


class StatementChoice(Enum):
    """What becomes of a statement when the handoff is written."""

    IN = auto()
    DROPPED = auto()
    """The person does not want it."""
    NO_ROOM = auto()
    """The budget has no room for it."""


@dataclass(frozen=True, slots=True)
class DraftStatement:
    """One statement of a draft."""

    statement: HandoffStatement
    """As it would be written."""
    place: StatementChoice
    is_own: bool
    """Whether it is in the person's own words."""
    key: Key
    """Names it among the statements of its draft."""


Key = tuple[StatementSection, str, tuple[str, ...], str]
"""What a statement was composed as: its section, its text, the facts on which it stands, and how
its quote begins, which is as long as there is room.
"""
_QUOTED = 40
"""Characters."""


class DraftDecisions:
    """The statements of a draft as the person leaves them. What was decided of one stays decided
    when it is composed again, for another agent or with another budget.
    """

    def __init__(self) -> None:
        """Nothing was composed yet."""
        self._composed: tuple[HandoffStatement, ...] = ()
        self._dropped: set[Key] = set()
        self._own: dict[Key, HandoffStatement] = {}

    def compose(self, statements: Iterable[HandoffStatement]) -> None:
        """Take what was composed, or proved anew."""
        self._composed = tuple(statements)

    @property
    def wanted(self) -> tuple[HandoffStatement, ...]:
        """What the person wants to be written, as far as there is room."""
        return tuple(it for key, it in self._worded() if key not in self._dropped)

    @property
    def changed(self) -> int:
        """How many statements were dropped or worded anew."""
        return sum(key in self._dropped or key in self._own for key, _ in self._worded())

    def drafted(
        self, order: Sequence[StatementSection], written: Iterable[HandoffStatement]
    ) -> list[DraftStatement]:
        """Return the statements in the order of their sections; `written` are those for which there
        is room.
        """
        has_room = frozenset((it.section, it.text, it.quote) for it in written)
        found = [
            DraftStatement(it, self._place(key, it, has_room), key in self._own, key)
            for key, it in self._worded()
        ]
        return sorted(found, key=lambda it: order.index(it.statement.section))

    def _worded(self) -> list[tuple[Key, HandoffStatement]]:
        keyed = ((key_of(it), it) for it in self._composed)
        return [(key, self._own.get(key, it)) for key, it in keyed]

    def _place(
        self,
        key: Key,
        it: HandoffStatement,
        has_room: Collection[tuple[StatementSection, str, str]],
    ) -> StatementChoice:
        if key in self._dropped:
            return StatementChoice.DROPPED
        return (
            StatementChoice.IN
            if (it.section, it.text, it.quote) in has_room
            else StatementChoice.NO_ROOM
        )

    # What the person decides

    def turn(self, key: Key) -> bool:
        """Drop a statement, or take it in again; say whether it is dropped now."""
        self._dropped ^= {key}
        return key in self._dropped

    def word(self, key: Key, text: str) -> HandoffStatement | None:
        """Return the statement in the person's own words: it quotes nobody, and nothing proves it
        yet. None where they are the words of what was composed, or none, which brings that back.
        """
        composed = next(it for it in self._composed if key_of(it) == key)
        self._own.pop(key, None)
        if not text or text == " ".join(text_of(composed).split()):
            return None
        return replace(composed, text=text, proof=None, quote="")

    def take(self, key: Key, own: HandoffStatement) -> None:
        """Have a statement in the person's own words in the place of what was composed."""
        self._own[key] = own
        self._dropped.discard(key)


def key_of(statement: HandoffStatement) -> Key:
    """Return what names a statement that was composed."""
    quoted = statement.quote[:_QUOTED]
    return statement.section, statement.text, statement.stands_on, quoted


def text_of(statement: HandoffStatement) -> str:
    """Return what a statement says, to be edited: its words, and those that it quotes."""
    return "\n".join(filter(None, (statement.text, statement.quote)))
