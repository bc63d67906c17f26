"""Tide tables and gauge readings in one SQLite file."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS reading (
    station TEXT NOT NULL,
    taken_at TEXT NOT NULL,
    height REAL NOT NULL,
    PRIMARY KEY (station, taken_at)
);
"""


class Store:
    def __init__(self, path: Path | str) -> None:
        self.db = sqlite3.connect(path)
        self.db.executescript(SCHEMA)

    def add_reading(self, station: str, taken_at: datetime, height: float) -> None:
        with self.db:
            self.db.execute(
                "INSERT OR REPLACE INTO reading VALUES (?, ?, ?)",
                (station, taken_at.isoformat(), height),
            )

    def readings(self, station: str) -> list[tuple[datetime, float]]:
        rows = self.db.execute(
            "SELECT taken_at, height FROM reading WHERE station = ? ORDER BY taken_at", (station,)
        )
        return [(datetime.fromisoformat(taken_at), height) for taken_at, height in rows]

    def close(self) -> None:
        self.db.close()
