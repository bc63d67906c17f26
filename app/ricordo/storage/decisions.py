"""What the person decided: of findings, of changes by others, of notes. Kept as acts of the
history, so that taking one back is an act too, and undo knows the order of all of them.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from ricordo.storage.database import Database, transaction
from ricordo.storage.history import History
from ricordo.storage.operation import CHANGE, Act, Place


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
class ValidDecision:
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

    def standing(self, *wanted: Decision) -> dict[str, ValidDecision]:
        """Return the decisions of the `wanted` kinds that stand, by subject; nothing where no
        history exists yet. Raises StateUnusable.
        """
        if not self._database.exists:
            return {}
        with self._database.opened() as connection:
            history = History(connection)
            root = history.known_root(self._root)
            acts = history.acts(root.id) if root else []
        latest: dict[tuple[Decision, str], ValidDecision] = {}
        for act in effective_acts(acts):
            for decision, subject in decided_in(act):
                key = _OPPOSITE.get(decision, decision), subject
                latest[key] = ValidDecision(decision, subject, act.at, act.reason, act.n)
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


class ReviewVerdict(StrEnum):
    """What can be said of a note; what was said last counts."""

    TRUE = "still true"
    WRONG = "wrong"
    """Left to the curator, which is told."""
    LATER = "later"
    """To be asked again from a day on."""


@dataclass(frozen=True, slots=True)
class NoteVerdict:
    """One thing that the person said of a note."""

    judgement: ReviewVerdict
    path: str
    """Where the note stands now."""
    content: str
    """SHA-256 of the text that was judged."""
    at: str
    """ISO 8601, with time zone."""
    until: str = ""
    """The day from which on it is asked again, ISO 8601; "" but for `LATER`."""
    findings: frozenset[str] = frozenset()
    """The ids of the findings that the note had."""


JudgedNotes = Mapping[str, tuple[NoteVerdict, ...]]
"""What was said of notes, oldest first, by their present paths."""
_VERDICT_KINDS = tuple(judgement.value for judgement in ReviewVerdict)


class ReviewVerdicts:
    """What was said of the notes of one memory."""

    def __init__(self, database: Database, root: str) -> None:
        """`root` is the path of the memory; nothing is touched before use."""
        self._database = database
        self._root = root

    def judge(self, judged: NoteVerdict) -> None:
        """Keep what was said, durably. Raises StateUnusable and MemoryUnreadable."""
        self._database.check_place(self._root)
        with self._database.opened() as connection, transaction(connection):
            history = History(connection)
            root = history.root(self._root).id
            act = history.begin(root, judged.at, judged.judgement.value, subject=judged.path)
            connection.execute(
                "INSERT INTO judgement VALUES (?, ?, ?, ?)",
                (act, judged.content, judged.until, " ".join(sorted(judged.findings))),
            )

    def standing(self) -> JudgedNotes:
        """Return what was said of each note and not taken back. It follows its note to another
        path and into another memory. Raises StateUnusable.
        """
        if not self._database.exists:
            return {}
        with self._database.opened() as connection:
            history = History(connection)
            root = history.known_root(self._root)
            where = _where_they_stand(history) if root else {}
        return {
            path: tuple(replace(it, path=path) for it in judged)
            for (of, path), judged in where.items()
            if root is not None and of == root.id
        }


def _where_they_stand(history: History) -> Mapping[Place, Sequence[NoteVerdict]]:
    """Return what stands in every memory, by the places where its notes are now."""
    said = _said(history)
    if not said:
        return {}
    moved: dict[int, list[tuple[Place, Place]]] = {}
    for number, origin, to in history.moves():
        moved.setdefault(number, []).append((origin, to))
    where: dict[Place, list[NoteVerdict]] = {}
    for number in sorted(said.keys() | moved.keys()):
        if number in said:
            place, judged = said[number]
            where.setdefault(place, []).append(judged)
        # all of them leave before any arrives: two notes may change places
        moving = [(to, where.pop(origin, [])) for origin, to in moved.get(number, ())]
        for to, taken in moving:
            if taken:
                where.setdefault(to, []).extend(taken)
    return where


def _said(history: History) -> Mapping[int, tuple[Place, NoteVerdict]]:
    """Return what stands in every memory, by the numbers of its acts, where it was said."""
    acts = {act.n: act for act in effective_acts(history.decisions(_VERDICT_KINDS))}
    rows = history.db.execute("SELECT act, content, until, findings FROM judgement ORDER BY act")
    said: dict[int, tuple[Place, NoteVerdict]] = {}
    for n, content, until, findings in rows:
        if (act := acts.get(n)) is not None:
            kind, ids = ReviewVerdict(act.kind), frozenset(findings.split())
            judged = NoteVerdict(kind, act.subject, content, act.at, until, ids)
            said[n] = ((act.root, act.subject), judged)
    return said


def on_content(judged: Collection[NoteVerdict], content: str | None) -> tuple[NoteVerdict, ...]:
    """Return what of it was said of this very text, by its SHA-256."""
    return tuple(it for it in judged if it.content == content)
