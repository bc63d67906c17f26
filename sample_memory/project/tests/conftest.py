from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tidepool.stations import Station, load_stations
from tidepool.store import Store


@pytest.fixture
def genova() -> Station:
    return load_stations()["genova"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    real = Store(tmp_path / "tide.db")
    yield real
    real.close()
