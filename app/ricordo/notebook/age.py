"""How old a note is, and how we know."""

from __future__ import annotations

import re
from datetime import date, datetime

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


def day_of(note: Note) -> date:
    """Return the stamped day, else that of the file's time; 1 January 1970 where that is absurd."""
    stamped = stamped_day(note)
    if stamped is not None:
        return stamped
    try:
        return datetime.fromtimestamp(note.facts.modified).date()
    except (OverflowError, OSError, ValueError):
        return date(1970, 1, 1)


def age_in_words(note: Note, today: date) -> str:
    """Return how long ago the note was last changed and by what that is known."""
    days = (today - day_of(note)).days
    source = "stamped" if stamped_day(note) else "file time"
    if days < 0:
        return f"in the future ({source})"
    if days == 0:
        return f"today ({source})"
    return f"{days} day{'s' if days != 1 else ''} ({source})"
