"""Stations and their harmonic constants, read from data/stations.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data" / "stations.json"


@dataclass(frozen=True)
class Constituent:
    amplitude: float
    phase: float


@dataclass(frozen=True)
class Station:
    key: str
    title: str
    mean_level: float
    constituents: dict[str, Constituent]


def load_stations(path: Path = DATA) -> dict[str, Station]:
    raw = json.loads(path.read_text(encoding="utf-8"))
    return {
        key: Station(
            key=key,
            title=value["title"],
            mean_level=value["mean_level"],
            constituents={name: Constituent(**parts) for name, parts in value["constituents"].items()},
        )
        for key, value in raw.items()
    }
