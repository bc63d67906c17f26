"""Gathering beside the screen: what is looked for meanwhile is not mixed up."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.services.workspace.follower import EvidenceCollector
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.settings import load_settings
from tests.support.builders import note_text, write_memory
from tests.tui.stage import surroundings_at


async def test_a_memory_that_is_shown_while_news_are_looked_for_is_gathered_whole(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a slow machine the first memory is shown only after the first news were asked for."""
    said = "Tables are made for the port of Sines every night, from the file of the institute.\n"
    write_memory(root, {name: note_text(name, said) for name in ("port.md", "again.md")})
    environment = surroundings_at(root)
    settings, _ = load_settings(environment)
    notebook = Notebook(MemoryPlace(str(root), AUTO_MEMORY, str(root)), environment, settings)
    gathering = EvidenceCollector(notebook)

    def news_while_it_is_shown(_: Notebook) -> bool:
        gathering.set_memory(memory)
        return True

    memory = notebook.read()
    monkeypatch.setattr("ricordo.services.workspace.follower.NEWS_INTERVAL", 0.01)
    monkeypatch.setattr(Notebook, "has_news", property(news_while_it_is_shown))
    async for come in gathering.watch_progress():
        if not come.phase and gathering.is_idle:
            break
    assert notebook.evidence.pairs
