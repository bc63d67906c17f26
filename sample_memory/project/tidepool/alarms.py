"""Low-water alarms for the pilots."""

from __future__ import annotations

from datetime import datetime, timedelta

from tidepool.harmonics import low_waters
from tidepool.stations import Station

LEAD_MINUTES = 45


def due_alarms(station: Station, now: datetime, limit: float) -> list[tuple[datetime, float]]:
    """Low waters under the limit that the pilots must hear of now."""
    until = now + timedelta(minutes=LEAD_MINUTES)
    return [(when, height) for when, height in low_waters(station, now, until) if height < limit]
