"""Reads the gauge feed: one CSV line a reading, `time;station;height`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from datetime import datetime

CENTIMETRES = {"genova"}


def parse_feed(lines: Iterable[str]) -> Iterator[tuple[str, datetime, float]]:
    """Station, time and height in metres; lines that make no sense are skipped."""
    for row in csv.reader(lines, delimiter=";"):
        if len(row) != 3:
            continue
        try:
            taken_at, height = datetime.fromisoformat(row[0]), float(row[2])
        except ValueError:
            continue
        station = row[1].strip().lower()
        yield station, taken_at, height / 100 if station in CENTIMETRES else height
