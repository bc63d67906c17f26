"""The user's decisions on findings, changes by others, and notes. They are acts in the history, so
that reverting one is an act too, and undo knows the order of all of them.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from ricordo.memory.change import ChangeSet
from ricordo.storage.database import Database, transaction
from ricordo.storage.history import History, open_recorded
from ricordo.storage.operation import CHANGE, HistoryEntry, Place


class Decision(StrEnum):
    """The kind of a decision; each is in force until it is reverted or its opposite is decided."""

    DISMISS = "dismiss"
    """A finding is dismissed."""
    RESTORE = "stand"
    """A dismissed finding is reported again."""
    KEEP = "keep"
    """Changes by another program are accepted."""
    SNOOZE = "snooze"
    """Changes by another program are reviewed later."""
    PROTECT = "protect"
    """Neither curator nor fixes may change a note."""
    UNPROTECT = "free"
    """A note is not protected any longer."""
    ALLOW = "allow"
    """A value may be sent though it looks like a secret; the subject is its fingerprint."""
    DISALLOW = "withhold"
    """A value may not be sent any longer."""
    ACCEPT = "accept"
    """A proposal was applied: part of the change that applied it, never a separate act."""
    CONFIRM = "confirm"
    """The text of a note, by its SHA-256, was kept in a conflict: part of the change that resolved
    it, never a separate act.
    """
    REFUSE_FIX = "leave"
    """The fix of a finding was refused as a proposal: part of that act, never a separate one."""
    REFUSE = "refuse"
    """Proposals were refused; one act for all that were refused at once. It is part of the change
    that applied other proposals at the same time.
    """


_OPPOSITE = {
    Decision.RESTORE: Decision.DISMISS,
    Decision.SNOOZE: Decision.KEEP,
    Decision.UNPROTECT: Decision.PROTECT,
    Decision.DISALLOW: Decision.ALLOW,
    Decision.REFUSE: Decision.ACCEPT,
}
"""The decision that each one reverses: of both, the last one on a subject counts."""


@dataclass(frozen=True, slots=True)
class ActiveDecision:
    """A decision that is in force."""

    decision: Decision
    subject: str
    at: str
    """ISO 8601, with time zone."""
    reason: str
    act: int


class Decisions:
    """The decisions on one memory."""

    def __init__(self, database: Database, root: str) -> None:
        """Set the history, and `root`, the path of the memory; opens nothing."""
        self._database = database
        self._root = root

    def find_active(self, *wanted: Decision) -> dict[str, ActiveDecision]:
        """Return the decisions of the `wanted` kinds that are in force, by subject; empty without
        a history. Raises StateUnusable.
        """
        with open_recorded(self._database, self._root) as recorded:
            if recorded is None:
                return {}
            history, root = recorded
            acts = history.list_entries(root)
        latest: dict[tuple[Decision, str], ActiveDecision] = {}
        for act in skip_undone(acts):
            for decision, subject in read_decisions(act):
                key = _OPPOSITE.get(decision, decision), subject
                latest[key] = ActiveDecision(decision, subject, act.at, act.reason, act.n)
        return {d.subject: d for d in latest.values() if d.decision in wanted}

    def find_protected(self) -> frozenset[str]:
        """Return the paths of the notes that the user protected. Protection follows a note to
        another path and into another memory. Raises StateUnusable.
        """
        with open_recorded(self._database, self._root) as recorded:
            if recorded is None:
                return frozenset()
            history, root = recorded
            return frozenset(path for of, path in _protected_places(history) if of == root)

    def refuse(self, proposals: list[str], findings: list[str], at: str, reason: str) -> str:
        """Record as one act that the proposals with these ids are refused, and with them the fixes
        of `findings`; return the token of the act. Raises StateUnusable.
        """
        token = secrets.token_hex(4)
        fixes = (f"{_FIX}{finding}" for finding in findings)
        subject, kind = " ".join((*proposals, *fixes)), Decision.REFUSE.value
        with self._writing() as (history, root):
            history.add_entry(root, at, kind, subject=subject, reason=reason, token=token)
        return token

    def decide(self, decision: Decision, subjects: list[str], at: str, reason: str = "") -> None:
        """Record a decision on each of the `subjects`: for changes by others as one act, so that
        undo reverts all of it. Raises StateUnusable.
        """
        if decision in _OF_ARRIVALS:
            subjects = [" ".join(subjects)] if subjects else []
        with self._writing() as (history, root):
            for subject in subjects:
                history.add_entry(root, at, decision.value, subject=subject, reason=reason)

    @contextmanager
    def _writing(self) -> Iterator[tuple[History, str]]:
        self._database.check_location(self._root)
        with self._database.connect() as connection, transaction(connection):
            history = History(connection)
            yield history, history.ensure_root(self._root).id


def read_decisions(act: HistoryEntry) -> Iterator[tuple[Decision, str]]:
    """Yield the decisions in an act, each with its subject."""
    if act.kind == Decision.REFUSE:
        for word in act.subject.split():
            is_fix = word.startswith(_FIX)
            yield (Decision.REFUSE_FIX if is_fix else Decision.REFUSE), word.removeprefix(_FIX)
    elif act.kind in _OF_ARRIVALS:
        for word in act.subject.split():
            yield Decision(act.kind), word
    elif act.kind in _KINDS:
        yield Decision(act.kind), act.subject
    elif act.kind == CHANGE:
        for word in act.subject.split():
            prefix, _, name = word.rpartition(":")
            yield _WITH_CHANGE[prefix], name


_OF_ARRIVALS = frozenset((Decision.KEEP, Decision.SNOOZE))
"""The decisions on changes by others; the subject of an act has the ids of all of them."""
_FIX = "fix:"
"""The prefix, in the subject of a refusal, of the id of a finding whose fix is refused."""


_WITH_CHANGE = {
    "": Decision.DISMISS,
    "proposal": Decision.ACCEPT,
    "text": Decision.CONFIRM,
    "refused": Decision.REFUSE,
    "fix": Decision.REFUSE_FIX,
}
"""The decisions made with a change, by the prefix of each id in its subject."""


def format_subject(change_set: ChangeSet) -> str:
    """Return the subject of a change that also dismisses findings, accepts and refuses proposals,
    by their ids, and confirms texts, by their SHA-256.
    """
    decided = {
        "": change_set.dismisses,
        "proposal:": change_set.accepts,
        "text:": change_set.confirms,
        "refused:": change_set.refuses,
        _FIX: change_set.refuses_fixes,
    }
    return " ".join(f"{prefix}{name}" for prefix, names in decided.items() for name in names)


def _protected_places(history: History) -> set[Place]:
    """Return the current places of all protected files."""
    decided = {act.n: act for act in skip_undone(history.list_decisions(_PROTECTION))}
    if not decided:
        return set()
    moved: dict[int, dict[Place, Place]] = {}
    for number, origin, to in history.list_moves():
        moved.setdefault(number, {})[origin] = to
    places: set[Place] = set()
    for number in sorted(decided.keys() | moved.keys()):
        if number in moved:
            places = {moved[number].get(place, place) for place in places}
            continue
        act = decided[number]
        change = places.add if act.kind == Decision.PROTECT else places.discard
        change((act.root, act.subject))
    return places


_PROTECTION = (Decision.PROTECT, Decision.UNPROTECT)
_KINDS = frozenset(decision.value for decision in Decision)


def find_undone(acts: Sequence[HistoryEntry]) -> Mapping[int, int]:
    """Return the numbers of the acts, given oldest first, that are undone, each with the number of
    the act that undid it.
    """
    undone: dict[int, int] = {}
    for act in reversed(acts):
        if act.undoes is not None and act.n not in undone:
            undone.setdefault(act.undoes, act.n)
    return undone


def skip_undone(acts: list[HistoryEntry]) -> Iterator[HistoryEntry]:
    """Yield the acts, oldest first, that no later act undid. Undoing an undo restores the first."""
    undone = find_undone(acts)
    for act in acts:
        if act.n not in undone and act.undoes is None:
            yield act


class ReviewVerdict(StrEnum):
    """The user's verdict on a note in review; the last one counts."""

    TRUE = "still true"
    WRONG = "wrong"
    """The curator is asked to correct it."""
    LATER = "later"
    """It is reviewed again from a day on."""


@dataclass(frozen=True, slots=True)
class NoteVerdict:
    """One verdict of the user on a note."""

    verdict: ReviewVerdict
    path: str
    """The current path of the note."""
    content: str
    """SHA-256 of the reviewed text."""
    at: str
    """ISO 8601, with time zone."""
    until: str = ""
    """The day from which it is reviewed again, ISO 8601; "" except for `LATER`."""
    findings: frozenset[str] = frozenset()
    """The ids of the findings that the note had."""


VerdictsByPath = Mapping[str, tuple[NoteVerdict, ...]]
"""The verdicts on notes, oldest first, by current path."""
_VERDICT_KINDS = tuple(judgement.value for judgement in ReviewVerdict)


class ReviewVerdicts:
    """The verdicts on the notes of one memory."""

    def __init__(self, database: Database, root: str) -> None:
        """Set the history, and `root`, the path of the memory; opens nothing."""
        self._database = database
        self._root = root

    def record(self, verdict: NoteVerdict) -> None:
        """Record a verdict durably. Raises StateUnusable and MemoryUnreadable."""
        self._database.check_location(self._root)
        with self._database.connect() as connection, transaction(connection):
            history = History(connection)
            root = history.ensure_root(self._root).id
            act = history.add_entry(root, verdict.at, verdict.verdict.value, subject=verdict.path)
            connection.execute(
                "INSERT INTO judgement VALUES (?, ?, ?, ?)",
                (act, verdict.content, verdict.until, " ".join(sorted(verdict.findings))),
            )

    def find_active(self) -> VerdictsByPath:
        """Return the verdicts on each note that are not undone. They follow their note to another
        path and into another memory. Raises StateUnusable.
        """
        with open_recorded(self._database, self._root) as recorded:
            if recorded is None:
                return {}
            history, root = recorded
            by_place = _verdicts_by_place(history)
        return {
            path: tuple(replace(verdict, path=path) for verdict in verdicts)
            for (of, path), verdicts in by_place.items()
            if of == root
        }


def _verdicts_by_place(history: History) -> Mapping[Place, Sequence[NoteVerdict]]:
    """Return the verdicts in all memories by the current places of their notes."""
    by_act = _verdicts_by_act(history)
    if not by_act:
        return {}
    moved: dict[int, list[tuple[Place, Place]]] = {}
    for number, origin, to in history.list_moves():
        moved.setdefault(number, []).append((origin, to))
    by_place: dict[Place, list[NoteVerdict]] = {}
    for number in sorted(by_act.keys() | moved.keys()):
        if number in by_act:
            place, verdict = by_act[number]
            by_place.setdefault(place, []).append(verdict)
        # remove all before adding any: two notes may exchange their places
        moving = [(to, by_place.pop(origin, [])) for origin, to in moved.get(number, ())]
        for to, verdicts in moving:
            if verdicts:
                by_place.setdefault(to, []).extend(verdicts)
    return by_place


def _verdicts_by_act(history: History) -> Mapping[int, tuple[Place, NoteVerdict]]:
    """Return the verdicts in all memories that are not undone, with their original places, by the
    numbers of their acts.
    """
    acts = {act.n: act for act in skip_undone(history.list_decisions(_VERDICT_KINDS))}
    rows = history.db.execute("SELECT act, content, until, findings FROM judgement ORDER BY act")
    verdicts: dict[int, tuple[Place, NoteVerdict]] = {}
    for n, content, until, findings in rows:
        if (act := acts.get(n)) is not None:
            kind, ids = ReviewVerdict(act.kind), frozenset(findings.split())
            verdict = NoteVerdict(kind, act.subject, content, act.at, until, ids)
            verdicts[n] = ((act.root, act.subject), verdict)
    return verdicts


def filter_by_content(
    verdicts: Collection[NoteVerdict], content: str | None
) -> tuple[NoteVerdict, ...]:
    """Return the verdicts on the text with the SHA-256 `content`."""
    return tuple(verdict for verdict in verdicts if verdict.content == content)
