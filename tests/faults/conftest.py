"""A memory on a real disk for the tests of the writer."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.storage import jail as held_root
from tests.faults.writer_world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return a world in which nothing is known of the file system yet."""
    held_root._exchanging.clear()
    return World(tmp_path / "world")
