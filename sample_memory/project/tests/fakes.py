"""A store that keeps readings in a dictionary, for timing runs only."""

from __future__ import annotations

from datetime import datetime


class FakeStore:
    def __init__(self) -> None:
        self.kept: dict[str, list[tuple[datetime, float]]] = {}

    def add_reading(self, station: str, taken_at: datetime, height: float) -> None:
        self.kept.setdefault(station, []).append((taken_at, height))

    def readings(self, station: str) -> list[tuple[datetime, float]]:
        return sorted(self.kept.get(station, []))
