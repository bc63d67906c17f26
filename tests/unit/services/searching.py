"""A memory that is searched, for tests."""

from __future__ import annotations

from pathlib import Path

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.memory.memory import Memory
from ricordo.services.search.conditions import ConditionValues
from ricordo.services.search.recall import open_index
from ricordo.services.search.search import Hit, Search
from ricordo.services.workspace.environment import Environment
from tests.support.builders import note_text, open_memory

NOTES = {
    "MEMORY.md": "- [Cache](cache.md) — where\n",
    "cache.md": note_text("cache", "It is SQLite. See [[tide-tables]].\n", "Where tides are kept"),
    "tide-cache.md": note_text("tide cache", "The older one.\n", "Gone"),
    "tide-tables.md": note_text("tide-tables", "Port of Sines.\n", "Which port", "reference"),
    "getUserName.md": note_text("getUserName", "A function of the cache.\n", "How users log in"),
    "decache.md": note_text("decached", "Nothing.\n", "About nothing"),
    "log/day.md": "---\nname: diary\ndescription: of the day\ndate: 2026-05-07\n---\nRain, rain.\n",
}


class Desk:
    """A memory with its search."""

    def __init__(self, root: Path, state: Path, notes: dict[str, str] = NOTES) -> None:
        self.memory: Memory = open_memory(root, notes)
        self.environment = Environment(
            str(root), {}, str(root), str(state), str(state), "2026-11-20T08:00:00+00:00"
        )
        place = MemoryPlace(self.memory.root, AUTO_MEMORY)
        self.index = open_index(place, self.environment)
        self.search = Search(self.index, self.memory, self.environment)

    def paths(self, typed: str, values: ConditionValues | None = None) -> list[str]:
        return [hit.result.note.path for hit in self.search.find(typed, values).hits]

    def first(self, typed: str) -> Hit:
        return self.search.find(typed).hits[0]


def marked(hit: Hit) -> list[str]:
    """Return what is marked in the passage of a hit."""
    return [hit.result.snippet[start:end] for start, end in hit.result.marks]
