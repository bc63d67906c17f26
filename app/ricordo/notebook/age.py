"""How old a note is, and how we know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, tzinfo
from typing import NamedTuple

from ricordo.disk.database import Database
from ricordo.disk.history import History
from ricordo.health.evidence import NOTHING_KNOWN, Evidence
from ricordo.memory.change_set import digest
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def stamped_day(note: Note) -> date | None:
    """Return the day that the note itself gives for its last change; None where it gives none."""
    match = _DATE.match(note.stamped)
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


class Ages(NamedTuple):
    """What tells how old notes are, besides the notes themselves and their files."""

    evidence: Evidence = NOTHING_KNOWN
    written: Mapping[str, date] = {}
    """When Ricordo wrote the present text of notes that have a stamp, by their paths: an editor
    leaves the stamp as it was.
    """


def day_of(note: Note, ages: Ages) -> date:
    """Return the day of the last change of a note, 1 January 1970 where that is absurd."""
    return _day_and_source(note, ages)[0]


def age_in_words(note: Note, today: date, ages: Ages) -> str:
    """Return how long ago the note was last changed and by what that is known."""
    day, source = _day_and_source(note, ages)
    days = (today - day).days
    if days < 0:
        return f"in the future ({source})"
    if days == 0:
        return f"today ({source})"
    return f"{days} day{'s' if days != 1 else ''} ({source})"


def _day_and_source(note: Note, ages: Ages) -> tuple[date, str]:
    stamped, written = stamped_day(note), ages.written.get(note.path)
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


def written_here(database: Database, memory: Memory, zone: tzinfo | None) -> Mapping[str, date]:
    """Return when Ricordo itself wrote the present text of the notes that have a stamp, by their
    paths. What was only taken back counts as of when it was written first. Raises StateUnusable.
    """
    stamped = {note.path: note for note in memory.notes if stamped_day(note) is not None}
    if not stamped or not database.exists:
        return {}
    with database.opened() as connection:
        history = History(connection)
        root = history.known_root(memory.root)
        writings = history.writings(root.id) if root else []
    days: dict[str, date] = {}
    for path, content, at in writings:
        if path in stamped and content == digest(stamped[path].raw):
            days[path] = datetime.fromisoformat(at).astimezone(zone).date()
    return days
