"""What agents did with a note, in words: readings, origin and age."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, tzinfo
from typing import NamedTuple

from ricordo.agents.transcripts.session import FileAction
from ricordo.lint.evidence import NO_EVIDENCE, Evidence
from ricordo.memory.change import compute_digest
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.services.sessions.origin import NoteOrigin
from ricordo.storage.database import Database
from ricordo.storage.history import open_recorded

AGENT_ONLY_TEXT = "the agent's own summary; you did not say it"
NO_MESSAGE_TEXT = "written by an agent; no message of yours says it"

_ACTIONS = {
    FileAction.WROTE: "written in",
    FileAction.EDITED: "edited in",
    FileAction.DELETED: "deleted in",
    FileAction.READ: "read in",
}


def describe_reads(evidence: Evidence, note: Note) -> str:
    """Return how often agents have read a note, and when last; "" where no session is known."""
    if not evidence.last_session or note.role is not FileRole.NOTE:
        return ""
    reads = evidence.reads.get(note.path)
    if reads is None:
        return "never"
    last = f"on {format_day(reads.last_at)} in “{reads.session}”"
    return f"{reads.count}×, last {last}" if reads.count else f"never, but edited {last}"


def describe_reads_briefly(evidence: Evidence, note: Note) -> str:
    """Return how often agents have read a note, in two words; "" where no session is known."""
    if not evidence.last_session or note.role is not FileRole.NOTE:
        return ""
    reads = evidence.reads.get(note.path)
    return f"read {reads.count}×" if reads and reads.count else "never read"


def describe_origin(origin: NoteOrigin) -> str:
    """Return in which session a note was written or changed, and when."""
    how = _ACTIONS[origin.deed] if origin.deed else "the note names"
    return f"{how} {origin.agent.shown} “{origin.shown_session}”, {format_day(origin.at)}"


def describe_quote(origin: NoteOrigin) -> str:
    """Return the user's message from which a note comes, or that the agent wrote it by itself, as
    far as that is certain.
    """
    quote = origin.quote
    return f"“{quote.text}”" if quote else describe_missing_quote(origin)


def describe_missing_quote(origin: NoteOrigin) -> str:
    """Return what it means that no message of the user is quoted."""
    return AGENT_ONLY_TEXT if origin.is_heard_out else NO_MESSAGE_TEXT


def format_day(at: str) -> str:
    """Return the local day of an ISO 8601 time; "an unknown day" without one."""
    moment = parse_local_time(at)
    return f"{moment:%-d %B %Y}" if moment else "an unknown day"


def format_day_briefly(at: str, today: date) -> str:
    """Return that day as short as it is unambiguous `today`."""
    moment = parse_local_time(at)
    if moment is None:
        return "an unknown day"
    return f"{moment:%-d %b}" if moment.year == today.year else f"{moment:%-d %b %Y}"


def parse_local_time(at: str) -> datetime | None:
    """Return an ISO 8601 time in local time; None where it is none."""
    try:
        return datetime.fromisoformat(at).astimezone()
    except (ValueError, OverflowError):
        return None


_DATE = compile_lazily(r"(\d{4})-(\d{2})-(\d{2})")


def parse_stamp(note: Note) -> date | None:
    """Return the day that the note itself gives for its last change; None without one."""
    match = _DATE.match(note.stated_date)
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


class AgeSources(NamedTuple):
    """What shows the age of notes, besides the notes and their files."""

    evidence: Evidence = NO_EVIDENCE
    written: Mapping[str, date] = {}
    """When Ricordo wrote the current text of notes with a stamp, by path: an editor does not update
    the stamp.
    """


def find_last_change_day(note: Note, ages: AgeSources) -> date:
    """Return the day of the last change of a note, 1 January 1970 for an impossible time."""
    return _find_day_and_source(note, ages)[0]


def describe_age(note: Note, today: date, ages: AgeSources) -> str:
    """Return how long ago the note was last changed, and the source of that date."""
    day, source = _find_day_and_source(note, ages)
    days = (today - day).days
    if days < 0:
        return f"in the future ({source})"
    if days == 0:
        return f"today ({source})"
    return f"{days} day{'s' if days != 1 else ''} ({source})"


def _find_day_and_source(note: Note, ages: AgeSources) -> tuple[date, str]:
    stamped, written = parse_stamp(note), ages.written.get(note.path)
    if stamped is not None:
        is_newer = written is not None and written > stamped
        return (written, "edited") if written is not None and is_newer else (stamped, "stamped")
    committed = ages.evidence.committed_at(note)
    if committed is not None:
        return committed.astimezone().date(), "git"
    try:
        return datetime.fromtimestamp(note.facts.modified).date(), "file time"
    except (OverflowError, OSError, ValueError):
        return date(1970, 1, 1), "file time"


def list_written_days(
    database: Database, memory: Memory, zone: tzinfo | None
) -> Mapping[str, date]:
    """Return when Ricordo wrote the current text of the notes with a stamp, by path. Text that was
    restored by undo counts from when it was first written. Raises StateUnusable.
    """
    stamped = {note.path: note for note in memory.notes if parse_stamp(note) is not None}
    if not stamped:
        return {}
    with open_recorded(database, memory.root) as recorded:
        if recorded is None:
            return {}
        history, root = recorded
        writings = history.list_user_writes(root)
    days: dict[str, date] = {}
    for path, content, at in writings:
        if path in stamped and content == compute_digest(stamped[path].raw):
            days[path] = datetime.fromisoformat(at).astimezone(zone).date()
    return days
