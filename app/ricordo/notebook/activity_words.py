"""What agents did with a note, in words: its readings, and what caused it."""

from __future__ import annotations

from datetime import date, datetime

from ricordo.activity.session import Deed
from ricordo.health.evidence import Evidence
from ricordo.memory.layout import Role
from ricordo.memory.note import Note
from ricordo.notebook.origin import Cause

NOBODY_SAID_IT = "the agent's own summary, nobody said it"
NO_TURN_FOUND = "an agent wrote it; no turn was found in which you said it"

_DONE = {
    Deed.WROTE: "written in",
    Deed.EDITED: "edited in",
    Deed.DELETED: "deleted in",
    Deed.READ: "read in",
}


def reads_in_words(evidence: Evidence, note: Note) -> str:
    """Return how often agents have read a note, and when last; "" where no session is known."""
    if not evidence.last_session or note.role is not Role.NOTE:
        return ""
    reads = evidence.reads.get(note.path)
    if reads is None:
        return "never"
    last = f"on {day_in_words(reads.last)} in “{reads.session}”"
    return f"{reads.times}×, last {last}" if reads.times else f"never, but edited {last}"


def read_briefly(evidence: Evidence, note: Note) -> str:
    """Return how often agents have read a note, in two words; "" where no session is known."""
    if not evidence.last_session or note.role is not Role.NOTE:
        return ""
    reads = evidence.reads.get(note.path)
    return f"read {reads.times}×" if reads and reads.times else "never read"


def cause_in_words(cause: Cause) -> str:
    """Return in which session a note was written or changed, and when."""
    how = _DONE[cause.deed] if cause.deed else "the note names"
    return f"{how} {cause.agent.shown} “{cause.shown_session}”, {day_in_words(cause.at)}"


def quoted_in_words(cause: Cause) -> str:
    """Return what caused a note: what the person said, or that it is the agent's own, as far as
    that is sure.
    """
    said = cause.quote
    return f"“{said.text}”" if said else nobody_in_words(cause)


def nobody_in_words(cause: Cause) -> str:
    """Return what it means that nothing of what the person said is quoted."""
    return NOBODY_SAID_IT if cause.is_heard_out else NO_TURN_FOUND


def day_in_words(at: str) -> str:
    """Return the day of an ISO 8601 time where the person is; "an unknown day" without one."""
    moment = local_time(at)
    return f"{moment:%-d %B %Y}" if moment else "an unknown day"


def brief_day(at: str, today: date) -> str:
    """Return that day as short as it is clear `today`."""
    moment = local_time(at)
    if moment is None:
        return "an unknown day"
    return f"{moment:%-d %b}" if moment.year == today.year else f"{moment:%-d %b %Y}"


def local_time(at: str) -> datetime | None:
    """Return an ISO 8601 time by the clock where the person is; None where it is none."""
    try:
        return datetime.fromisoformat(at).astimezone()
    except (ValueError, OverflowError):
        return None
