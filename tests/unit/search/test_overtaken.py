"""An index that another process brings further while it is asked: the memory that asks is what
the answer is about.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.memory.memory import Memory
from ricordo.search.index import SearchIndex
from ricordo.search.reader import IndexReader
from ricordo.services.search.ambient import recall_ambient
from ricordo.services.search.recall import recall
from ricordo.services.search.search import Search
from ricordo.services.workspace.environment import Environment
from tests.support.builders import note_text, open_memory


class Overtaken(SearchIndex):
    """Another index of the same memory is brought further before every question."""

    later: Memory

    def query(
        self, memory: Memory, question: Callable[[IndexReader], Any], progress: Any = None
    ) -> Any:
        def after_the_other(reader: IndexReader) -> Any:
            other = SearchIndex(self._file.state, memory.root)
            other.update(self.later)
            assert not other.warning
            return question(reader)

        return super().query(memory, after_the_other, progress)


@pytest.mark.parametrize("way", ["recall", "search", "ambient"])
def test_a_note_that_the_memory_does_not_have_is_left_out(
    harbour: Memory, root: Path, state: Path, way: str
):
    index = Overtaken(str(state), harbour.root)
    text = "The tide cache moved to SQLite on a Friday morning in the harbour.\n"
    index.later = open_memory(root, {"new.md": note_text("tide sqlite friday", text)})
    here = Environment(
        str(root.parent / "harbour" / "tide"),
        {},
        str(root),
        str(state),
        str(state),
        "2026-11-20T08:00:00+00:00",
    )
    if way == "recall":
        found = [it.note for it in recall(index, harbour, "the tide cache in sqlite", here)]
    elif way == "search":
        hits = Search(index, harbour, here).find("sqlite cache tide").hits
        found = [it.result.note for it in hits]
    else:
        place = MemoryPlace(harbour.root, AUTO_MEMORY)
        found = [it.note for it in recall_ambient(index, harbour, place, here)]
    assert "new.md" not in [it.path for it in found]
    assert found or way == "ambient"
