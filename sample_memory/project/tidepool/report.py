"""The printed day: the only place where numbers become text."""

from __future__ import annotations

from datetime import datetime, timedelta

from tidepool.harmonics import curve, low_waters
from tidepool.plan import Slot
from tidepool.stations import Station


def day_report(station: Station, day: datetime) -> str:
    end = day + timedelta(days=1)
    heights = [height for _, height in curve(station, day, end)]
    lines = [
        f"{station.title}, {day:%Y-%m-%d} (UTC, metres above chart datum)",
        f"highest {max(heights):.2f} m, lowest {min(heights):.2f} m",
    ]
    lines += [f"low water {when:%H:%M} {height:.2f} m" for when, height in low_waters(station, day, end)]
    return "\n".join(lines)


def plan_report(slots: list[Slot]) -> str:
    return "\n".join(
        f"berth {slot.berth.number}  {slot.start:%H:%M}-{slot.end:%H:%M}  {slot.call.ship}" for slot in slots
    )
