"""The guard against edit storms: a memory that is curated at every turn wears away, and agents load
it anew each time.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from ricordo.errors import TooOften
from ricordo.notebook.curations import applied_at
from ricordo.notebook.open import Notebook

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


class Span(NamedTuple):
    """A stretch of time in which no more than so many curations may be applied."""

    length: timedelta
    name: str
    most: int
    setting: str


def refuse_storm(notebook: Notebook) -> None:
    """Refuse to curate a memory that was curated too often. Raises TooOften and StateUnusable."""
    if told := storm(notebook):
        raise TooOften(told)


def storm(notebook: Notebook) -> str:
    """Return what is to be told where too many curations were applied of late, those too that were
    taken back; "" where all is calm. What a clock that was put back leaves in the future counts.
    Raises StateUnusable.
    """
    now, applied = notebook.surroundings.now, applied_at(notebook)
    for span in _spans(notebook):
        lately = sorted(at for at in applied if now - at < span.length)
        if len(lately) >= span.most:
            free = lately[-span.most] + span.length
            return (
                f"The memory is left to settle until {free.astimezone(now.tzinfo):%Y-%m-%d %H:%M}: "
                f"curations applied within {span.name}: {len(lately)}. The setting {span.setting} "
                "allows more."
            )
    return ""


def still_going_on(notebook: Notebook, last: str) -> str:
    """Return what is to be told where somebody spoke a moment ago; "" where all is quiet. `last` is
    when that was, ISO 8601, "" where nobody did.
    """
    quiet = timedelta(minutes=notebook.settings.curate.quiet)
    if not last or not quiet:
        return ""
    ago = notebook.surroundings.now - datetime.fromisoformat(last)
    if not timedelta(0) <= ago < quiet:
        return ""
    minutes = int(ago.total_seconds() // 60)
    when = f"{minutes} minutes ago" if minutes > 1 else "a moment ago"
    return f"A session still goes on ({when}): curate it when it has ended."


def _spans(notebook: Notebook) -> tuple[Span, ...]:
    most = notebook.settings.curate
    return (
        Span(_HOUR, "an hour", most.hour, "curate.hour"),
        Span(_DAY, "a day", most.day, "curate.day"),
    )
