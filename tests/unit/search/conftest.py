"""A small memory about a harbour, and an index of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.memory.memory import Memory
from ricordo.search.index import SearchIndex
from tests.support.builders import note_text, open_memory

NOTES = {
    "MEMORY.md": "- [Tides](tides.md) — which port\n",
    "tides.md": note_text("tides", "The tide tables are those of Sines. See [[cache]].\n"),
    "cache.md": note_text(
        "cache", "The tide cache moved from Redis to SQLite in May 2026.\n", "Where tides are kept"
    ),
    "deploy.md": note_text(
        "deploy", "Releases are deployed on Tuesdays by Marta.\n", "How releases go out", "feedback"
    ),
    "café.md": note_text("café", "Das Café öffnet um neun. 会議の記録は東京です。\n", "Hours"),
}


@pytest.fixture
def harbour(root: Path) -> Memory:
    return open_memory(root, NOTES)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def index(harbour: Memory, state: Path) -> SearchIndex:
    return SearchIndex(str(state), harbour.root, str(Path(harbour.root).parent))
