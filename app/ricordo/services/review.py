"""The daily review: a few notes that need attention, worst first.

A note comes up because of evidence against it, its age, or because somebody else wrote it. A
verdict of the user suppresses it until its day, until its text changes, or until there is new
evidence.
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
from ricordo.memory.change import compute_digest
from ricordo.memory.layout import FileRole
from ricordo.memory.note import Note
from ricordo.services.inbox.inbox import read_inbox
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.storage.decisions import NoteVerdict, ReviewVerdict, filter_by_content

EVIDENCE_RULES = (
    "contradiction",
    "missing-path",
    "missing-symbol",
    "passed-date",
    "changed-since",
    "relative-date",
    "status-claim",
)
"""The rules whose findings are evidence against a note, the weightiest first."""
STALE_RULE = "stale"
MAX_CONFIRMED = timedelta(days=365)
"""A confirmed note comes up again after this time at the latest."""


class ReviewReason(IntEnum):
    """Why a note is in the review, the weightiest first."""

    EVIDENCE = 1
    AGE = 2
    NEW = 3
    """Somebody else wrote it since the last visit."""


@dataclass(frozen=True, slots=True)
class ReviewNote:
    """One note in the review."""

    note: Note
    reason: ReviewReason
    findings: tuple[Finding, ...] = ()
    """The evidence against it, the weightiest first."""
    retention: Retention | None = None
    """None for a page that cannot be read."""

    @property
    def rank(self) -> tuple[float, ...]:
        """Sort key: evidence before age, the worst of each first."""
        retention_share = self.retention.share if self.retention else 0.0
        if not self.findings:
            return (self.reason, retention_share)
        worst = min(_rank_finding(finding) for finding in self.findings)
        return (self.reason, *worst, -len(self.findings), retention_share)


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """The notes to review today, and a forecast."""

    items: tuple[ReviewNote, ...] = ()
    more: int = 0
    """How many notes are due beyond the daily limit."""
    forecast: Mapping[date, int] = field(default_factory=dict)
    """How many notes are due again on later days, because of their age or a verdict."""

    @property
    def next_due(self) -> date | None:
        """The next day on which a note is due; None where none is."""
        return min(self.forecast, default=None)


def build_review(notebook: Notebook, snapshot: Snapshot) -> ReviewQueue:
    """Return today's review of a snapshot, with what others wrote according to the history."""
    new: frozenset[str] = frozenset()
    # an unreadable history is reported where it is written
    with suppress(StateUnusable):
        new = frozenset(arrival.path for arrival in read_inbox(notebook).pending)
    return build_queue(snapshot, new, notebook.settings.review)


def build_queue(snapshot: Snapshot, new: Collection[str], most: int) -> ReviewQueue:
    """Return at most `most` notes of a complete snapshot; `new` are the paths of what
    others wrote.
    """
    due: list[ReviewNote] = []
    ahead: Counter[date] = Counter()
    for note in snapshot.memory.notes:
        if note.role is not FileRole.NOTE:
            continue
        last = find_last_verdict(snapshot, note)
        item = _build_item(snapshot, note, last, is_new=last is None and note.path in new)
        if item is not None:
            due.append(item)
            continue
        day = find_due_day(snapshot.retention.get(note.path), last, snapshot.at)
        # nothing is due on a past day: its finding is dismissed, or its rule is off
        if day is not None and day > snapshot.at.date():
            ahead[day] += 1
    due.sort(key=lambda item: (item.rank, item.note.path))
    return ReviewQueue(tuple(due[:most]), max(0, len(due) - most), dict(sorted(ahead.items())))


def find_last_verdict(snapshot: Snapshot, note: Note) -> NoteVerdict | None:
    """Return the user's last verdict on the current text of a note."""
    verdicts = snapshot.verdicts.get(note.path)
    valid = filter_by_content(verdicts, compute_digest(note.raw)) if verdicts else ()
    return valid[-1] if valid else None


def find_due_day(
    retention: Retention | None, last: NoteVerdict | None, now: datetime
) -> date | None:
    """Return the day on which a note is due again after its `last` verdict; None where only a
    change brings it up.
    """
    if last is not None and last.verdict is ReviewVerdict.WRONG:
        return None
    if last is not None and last.verdict is ReviewVerdict.LATER:
        return date.fromisoformat(last.until)
    if retention is None:
        return None
    if last is None:
        return retention.stale_on
    day_of_verdict = datetime.fromisoformat(last.at).astimezone(now.tzinfo).date()
    return min(retention.stale_on, day_of_verdict + MAX_CONFIRMED)


def _build_item(
    snapshot: Snapshot, note: Note, last: NoteVerdict | None, *, is_new: bool
) -> ReviewNote | None:
    """Return a note for the review; None where it is not due."""
    findings = snapshot.by_path.get(note.path, ())
    evidence = tuple(
        sorted(
            (finding for finding in findings if finding.rule in EVIDENCE_RULES), key=_rank_finding
        )
    )
    is_stale = any(finding.rule == STALE_RULE for finding in findings)
    retention = snapshot.retention.get(note.path)
    if last is not None and not _is_due_again(last, evidence, retention, snapshot.at):
        return None
    if evidence:
        return ReviewNote(note, ReviewReason.EVIDENCE, evidence, retention)
    if is_stale or last is not None:
        return ReviewNote(note, ReviewReason.AGE, (), retention)
    return ReviewNote(note, ReviewReason.NEW, (), retention) if is_new else None


def _is_due_again(
    last: NoteVerdict, doubts: Collection[Finding], retention: Retention | None, now: datetime
) -> bool:
    """Return whether a note with a verdict is due again."""
    if any(finding.id not in last.findings for finding in doubts):
        return True
    day = find_due_day(retention, last, now)
    return day is not None and day <= now.date()


def _rank_finding(finding: Finding) -> tuple[int, int]:
    return -finding.severity, EVIDENCE_RULES.index(finding.rule)
