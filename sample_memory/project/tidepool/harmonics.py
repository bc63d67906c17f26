"""Tide heights from harmonic constants: metres above chart datum, times in UTC."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from tidepool.stations import Station

EPOCH = datetime(2000, 1, 1)
DEFAULT_STEP = timedelta(minutes=10)

# Degrees an hour.
SPEEDS = {"M2": 28.9841042, "S2": 30.0, "K1": 15.0410686, "O1": 13.9430356}


def height_at(station: Station, when: datetime) -> float:
    """The predicted height at one moment."""
    hours = (when - EPOCH).total_seconds() / 3600
    height = station.mean_level
    for name, constituent in station.constituents.items():
        angle = math.radians(SPEEDS[name] * hours - constituent.phase)
        height += constituent.amplitude * math.cos(angle)
    return height


def curve(
    station: Station, start: datetime, end: datetime, step: timedelta = DEFAULT_STEP
) -> Iterator[tuple[datetime, float]]:
    """Heights from start to end, both included."""
    when = start
    while when <= end:
        yield when, height_at(station, when)
        when += step


def low_waters(station: Station, start: datetime, end: datetime) -> list[tuple[datetime, float]]:
    """The local minima of the curve."""
    points = list(curve(station, start, end))
    return [
        here
        for before, here, after in zip(points, points[1:], points[2:], strict=False)
        if here[1] < before[1] and here[1] <= after[1]
    ]
