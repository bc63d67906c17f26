"""What the person decided: of findings, of changes by others, of notes. Kept as acts of the
history, so that taking one back is an act too, and undo knows the order of all of them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from ricordo.disk.act import CHANGE, Act, Place
from ricordo.disk.database import Database, transaction
from ricordo.disk.history import History


class Decision(StrEnum):
    """What can be decided; each stands until it is taken back or its opposite is decided."""

    DISMISS = "dismiss"
    """A finding is fine."""
    STAND = "stand"
    """A finding that was dismissed stands again."""
    KEEP = "keep"
    """A change by somebody else is fine."""
    SNOOZE = "snooze"
    """A change by somebody else is looked at later."""
    PROTECT = "protect"
    """Neither curator nor fixes may touch a note."""
    FREE = "free"
    """A note is protected no longer."""
    ALLOW = "allow"
    """A value may leave though it looks like a secret; the subject is its fingerprint."""
    WITHHOLD = "withhold"
    """A value may leave no longer."""
    ACCEPT = "accept"
    """A proposal was applied: part of the change that applied it, never an act by itself."""
    CONFIRM = "confirm"
    """The text of a note, by its SHA-256, was kept in a conflict: part of the change that settled
    it, never an act by itself.
    """
    LEAVE = "leave"
    """The fix of a finding was refused as a proposal: part of that act, never one by itself."""
    REFUSE = "refuse"
    """A proposal is not wanted; one act holds all that were refused at once."""


_OPPOSITE = {
    Decision.STAND: Decision.DISMISS,
    Decision.SNOOZE: Decision.KEEP,
    Decision.FREE: Decision.PROTECT,
    Decision.WITHHOLD: Decision.ALLOW,
    Decision.REFUSE: Decision.ACCEPT,
}
"""Decisions of one kind share their subjects: the last one counts."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that stands."""

    decision: Decision
    subject: str
    at: str
    """ISO 8601, with time zone."""
    reason: str
    act: int


class Decisions:
    """The decisions on one memory."""

    def __init__(self, database: Database, root: str) -> None:
        """`root` is the path of the memory; nothing is touched before use."""
        self._database = database
        self._root = root

    def standing(self, *wanted: Decision) -> dict[str, Decided]:
        """Return the decisions of the `wanted` kinds that stand, by subject; nothing where no
        history exists yet. Raises StateUnusable.
        """
        if not self._database.exists:
            return {}
        with self._database.opened() as connection:
            history = History(connection)
            root = history.known_root(self._root)
            acts = history.acts(root.id) if root else []
        latest: dict[tuple[Decision, str], Decided] = {}
        for act in effective_acts(acts):
            for decision, subject in decided_in(act):
                key = _OPPOSITE.get(decision, decision), subject
                latest[key] = Decided(decision, subject, act.at, act.reason, act.n)
        return {d.subject: d for d in latest.values() if d.decision in wanted}

    def protected(self) -> frozenset[str]:
        """Return the paths of the notes that the person has protected. A mark follows its note to
        another path and into another memory. Raises StateUnusable.
        """
        if not self._database.exists:
            return frozenset()
        with self._database.opened() as connection:
            history = History(connection)
            root = history.known_root(self._root)
            marked = _marked(history) if root else set()
        return frozenset(path for of, path in marked if root is not None and of == root.id)

    def refuse(self, proposals: list[str], findings: list[str], at: str, reason: str) -> str:
        """Keep, as one act, that the proposals of these ids are refused, and with them the fixes of
        `findings`; return the token of the act. Raises StateUnusable.
        """
        token = secrets.token_hex(4)
        fixes = (f"{_FIX}{it}" for it in findings)
        subject, kind = " ".join((*proposals, *fixes)), Decision.REFUSE.value
        with self._writing() as (history, root):
            history.begin(root, at, kind, subject=subject, reason=reason, token=token)
        return token

    def decide(self, decision: Decision, subjects: list[str], at: str, reason: str = "") -> None:
        """Keep a decision on each of the `subjects`. Raises StateUnusable."""
        with self._writing() as (history, root):
            for subject in subjects:
                history.begin(root, at, decision.value, subject=subject, reason=reason)

    @contextmanager
    def _writing(self) -> Iterator[tuple[History, str]]:
        self._database.check_place(self._root)
        with self._database.opened() as connection, transaction(connection):
            history = History(connection)
            yield history, history.root(self._root).id


def decided_in(act: Act) -> Iterator[tuple[Decision, str]]:
    """Yield what was decided in an act, and of what."""
    if act.kind == Decision.REFUSE:
        for word in act.subject.split():
            is_fix = word.startswith(_FIX)
            yield (Decision.LEAVE if is_fix else Decision.REFUSE), word.removeprefix(_FIX)
    elif act.kind in _KINDS:
        yield Decision(act.kind), act.subject
    elif act.kind == CHANGE:
        for word in act.subject.split():
            prefix, _, name = word.rpartition(":")
            yield _WITH_CHANGE[prefix], name


_FIX = "fix:"
"""How the id of a finding begins, whose fix is refused, in the subject of a refusal."""


_WITH_CHANGE = {
    "": Decision.DISMISS,
    "proposal": Decision.ACCEPT,
    "text": Decision.CONFIRM,
}
"""What is decided with a change, by what stands before each id in its subject."""


def subject_of_change(
    dismisses: Iterable[str], accepts: Iterable[str], confirms: Iterable[str]
) -> str:
    """Return the subject of a change that also dismisses findings, accepts proposals, both given by
    their ids, and confirms texts, given by their SHA-256.
    """
    words = (*dismisses, *(f"proposal:{it}" for it in accepts), *(f"text:{it}" for it in confirms))
    return " ".join(words)


def _marked(history: History) -> set[Place]:
    """Return every file that is protected, where it stands now."""
    decided = {act.n: act for act in effective_acts(history.decisions(_PROTECTION))}
    if not decided:
        return set()
    moved: dict[int, dict[Place, Place]] = {}
    for number, origin, to in history.moves():
        moved.setdefault(number, {})[origin] = to
    marked: set[Place] = set()
    for number in sorted(decided.keys() | moved.keys()):
        if number in moved:
            marked = {moved[number].get(place, place) for place in marked}
            continue
        act = decided[number]
        change = marked.add if act.kind == Decision.PROTECT else marked.discard
        change((act.root, act.subject))
    return marked


_PROTECTION = (Decision.PROTECT, Decision.FREE)
_KINDS = frozenset(decision.value for decision in Decision)


def taken_back(acts: list[Act]) -> frozenset[int]:
    """Return the numbers of the acts, given oldest first, that are taken back."""
    undone: set[int] = set()
    for act in reversed(acts):
        if act.undoes is not None and act.n not in undone:
            undone.add(act.undoes)
    return frozenset(undone)


def effective_acts(acts: list[Act]) -> Iterator[Act]:
    """Yield the acts, oldest first, that no later act has taken back. An act that takes back one
    that took back lets the first stand again.
    """
    undone = taken_back(acts)
    for act in acts:
        if act.n not in undone and act.undoes is None:
            yield act
