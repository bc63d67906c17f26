"""Which session wrote what is in the inbox, as far as the transcripts that were read tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from ricordo.activity.session import Deed
from ricordo.health.evidence import NOTHING_KNOWN
from ricordo.memory.memory import Memory
from ricordo.notebook.activity import Activity
from ricordo.notebook.evidence import without_rest
from ricordo.notebook.inbox import Arrival, Inbox
from ricordo.notebook.open import Notebook
from ricordo.notebook.origin import Cause, causes_by_note

_BEFORE, _AFTER = timedelta(seconds=5), timedelta(seconds=120)
"""How far the time of a file may lie from those at which a tool was called and had done its work.
Between the two the person may have been asked for leave.
"""


def learn_writers(notebook: Notebook, memory: Memory) -> None:
    """Read what was added to the transcripts since the last time; nothing else is gathered."""
    activity = Activity(notebook.place, notebook.surroundings, notebook.activity)
    activity.gather(memory, NOTHING_KNOWN, without_rest)


def with_writers(notebook: Notebook, seen: Inbox) -> Inbox:
    """Return the inbox with the sessions that wrote each of its files in `by`, where a transcript
    shows that; the others stay as they are.
    """
    if not seen.arrivals:
        return seen
    causes = causes_by_note(notebook.activity, notebook.place.root, {})
    named = tuple(_named(arrival, causes) for arrival in seen.arrivals)
    return replace(seen, arrivals=named)


def _named(arrival: Arrival, causes: dict[str, tuple[Cause, ...]]) -> Arrival:
    own = [cause for path in arrival.names for cause in causes.get(path, ()) if cause.deed]
    writer = _writer(arrival, own)
    return replace(arrival, by=writer.writer) if writer else arrival


def _writer(arrival: Arrival, causes: Iterable[Cause]) -> Cause | None:
    """Return what led to the file as it arrived: of several the last one."""
    at = _time(arrival.at)
    is_gone = arrival.kind == "deleted"
    fitting = [
        cause
        for cause in causes
        if at is not None and (cause.deed is Deed.DELETED) == is_gone and _fits(cause, at, is_gone)
    ]
    return max(fitting, key=lambda cause: cause.at, default=None)


def _fits(cause: Cause, at: datetime, is_gone: bool) -> bool:
    """Whether a file that bears the time `at` may be what `cause` left. That one is gone bears no
    time: it was noticed then.
    """
    called = _time(cause.at)
    done = _time(cause.done) or called
    if called is None or done is None or called - _BEFORE > at:
        return False
    return is_gone or at <= done + _AFTER


def _time(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else at.astimezone()
