"""The review of the day: the few notes that are worth a look now, worst first.

A note comes up for what speaks against it, for its age, or because somebody else wrote it. What the
person said of it keeps it away: until its day, until its text changes, or until something new
speaks against it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import IntEnum

from ricordo.errors import StateUnusable
from ricordo.lint.finding import Finding
from ricordo.lint.retention import Retention
from ricordo.memory.change import digest
from ricordo.memory.layout import FileRole
from ricordo.memory.note import Note
from ricordo.services.inbox.inbox import inbox
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.storage.decisions import NoteVerdict, ReviewVerdict, on_content

DOUBTS = (
    "contradiction",
    "missing-path",
    "missing-symbol",
    "passed-date",
    "changed-since",
    "relative-date",
    "status-claim",
)
"""The rules whose findings speak against what a note says, the weightiest first."""
STALE = "stale"
LONGEST = timedelta(days=365)
"""After which a note that was confirmed is asked again, however strong it is."""


class Why(IntEnum):
    """Why a note is in the review, the weightiest first."""

    EVIDENCE = 1
    AGE = 2
    NEW = 3
    """Somebody else wrote it since the last visit."""


@dataclass(frozen=True, slots=True)
class Item:
    """One note to be looked at."""

    note: Note
    why: Why
    doubts: tuple[Finding, ...] = ()
    """What speaks against it, the weightiest first."""
    retention: Retention | None = None
    """None for what has none: a page that cannot be read."""

    @property
    def rank(self) -> tuple[float, ...]:
        """Sort key: evidence before age, the worst of each first."""
        retention_share = self.retention.share if self.retention else 0.0
        if not self.doubts:
            return (self.why, retention_share)
        worst = min(_rank_finding(finding) for finding in self.doubts)
        return (self.why, *worst, -len(self.doubts), retention_share)


@dataclass(frozen=True, slots=True)
class Queue:
    """What is to be looked at today, and what follows."""

    items: tuple[Item, ...] = ()
    more: int = 0
    """How many notes are due beyond what a day has."""
    ahead: Mapping[date, int] = field(default_factory=dict)
    """How many notes come up again on later days, because of their age or because the person said
    so.
    """

    @property
    def next_due(self) -> date | None:
        """The next day on which a note comes up; None where none does."""
        return min(self.ahead, default=None)


def review(notebook: Notebook, look: Snapshot) -> Queue:
    """Return what of `look` is to be looked at today, with what others wrote as far as the history
    knows it.
    """
    new: frozenset[str] = frozenset()
    # that the history cannot be read is told where it is written
    with suppress(StateUnusable):
        new = frozenset(arrival.path for arrival in inbox(notebook).waiting)
    return queue(look, new, notebook.settings.review)


def queue(look: Snapshot, new: Collection[str], most: int) -> Queue:
    """Return at most so many notes of a look of which all is known; `new` are the paths of what
    others wrote.
    """
    due: list[Item] = []
    ahead: Counter[date] = Counter()
    for note in look.memory.notes:
        if note.role is not FileRole.NOTE:
            continue
        last = last_said(look, note)
        item = _build_item(look, note, last, is_new=last is None and note.path in new)
        if item is not None:
            due.append(item)
            continue
        day = due_on(look.retention.get(note.path), last, look.at)
        # a day that is over brings nothing where its finding is dismissed, or its rule off
        if day is not None and day > look.at.date():
            ahead[day] += 1
    due.sort(key=lambda item: (item.rank, item.note.path))
    return Queue(tuple(due[:most]), max(0, len(due) - most), dict(sorted(ahead.items())))


def last_said(look: Snapshot, note: Note) -> NoteVerdict | None:
    """Return what the person said last of the present text of a note."""
    verdicts = look.said.get(note.path)
    valid = on_content(verdicts, digest(note.raw)) if verdicts else ()
    return valid[-1] if valid else None


def due_on(retention: Retention | None, last: NoteVerdict | None, now: datetime) -> date | None:
    """Return on which day a note comes up again by itself, after what was said of it `last`; None
    where only a change brings it.
    """
    if last is not None and last.judgement is ReviewVerdict.WRONG:
        return None
    if last is not None and last.judgement is ReviewVerdict.LATER:
        return date.fromisoformat(last.until)
    if retention is None:
        return None
    if last is None:
        return retention.stale_on
    day_of_verdict = datetime.fromisoformat(last.at).astimezone(now.tzinfo).date()
    return min(retention.stale_on, day_of_verdict + LONGEST)


def _build_item(
    look: Snapshot, note: Note, last: NoteVerdict | None, *, is_new: bool
) -> Item | None:
    """Return a note as the review shows it; None where it is not due."""
    findings = look.by_path.get(note.path, ())
    evidence = tuple(
        sorted((finding for finding in findings if finding.rule in DOUBTS), key=_rank_finding)
    )
    is_stale = any(finding.rule == STALE for finding in findings)
    retention = look.retention.get(note.path)
    if last is not None and not _is_due_again(last, evidence, retention, look.at):
        return None
    if evidence:
        return Item(note, Why.EVIDENCE, evidence, retention)
    if is_stale or last is not None:
        return Item(note, Why.AGE, (), retention)
    return Item(note, Why.NEW, (), retention) if is_new else None


def _is_due_again(
    last: NoteVerdict, doubts: Collection[Finding], retention: Retention | None, now: datetime
) -> bool:
    """Whether a note of which something was said is to be looked at again."""
    if any(finding.id not in last.findings for finding in doubts):
        return True
    day = due_on(retention, last, now)
    return day is not None and day <= now.date()


def _rank_finding(finding: Finding) -> tuple[int, int]:
    return -finding.severity, DOUBTS.index(finding.rule)
