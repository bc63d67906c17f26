"""A day that a person names for later."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ricordo.text import clip

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def day_to_come(text: str, today: date) -> tuple[date | None, str]:
    """Return the day that was written as ISO 8601, else None and why it will not do."""
    said = clip(text, 40)
    if not _DAY.fullmatch(text):
        return None, f"“{said}” is no day: write it as {today + timedelta(days=90)}."
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None, f"{said} is not in the calendar: there is no such day."
    if day <= today:
        return None, f"{said} is not to come: name a day after {today}."
    return day, ""
