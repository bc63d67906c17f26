"""Another agent is supported once its `AgentSupport` is in the registry."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ricordo.agents import registry
from ricordo.agents.agent import Agent, MemoryPlace
from ricordo.agents.support import AgentSupport, LayoutMark, Step
from ricordo.agents.transcripts.checkpoint import Checkpoint
from ricordo.agents.transcripts.lines import as_text
from ricordo.agents.transcripts.reader import LineTranscript
from ricordo.agents.transcripts.session import Message, MessagePlace, Speaker
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.agents.workplace import Workplace
from ricordo.handoff.document import handoff_targets
from ricordo.memory.layout import Layout
from ricordo.services.workspace.places import find_memory
from tests.unit.machine import Machine

GULL = Agent("gull", "Gull")
NOTES = Layout(kind="gull", agent="Gull", recall_rank=6)


class GullReader:
    agent = GULL

    def __init__(self, path: str, learnt: Checkpoint) -> None:
        pass

    def read_line(self, entry: dict[str, Any], where: MessagePlace) -> Message | None:
        return Message(Speaker.USER, as_text(entry.get("cry")), "", "", where)


class GullSupport(AgentSupport):
    agent = GULL
    layouts = (NOTES,)
    marks = (LayoutMark(95, lambda root, names: "gull.md" in names, NOTES),)
    has_transcripts = True
    takes_handoffs = True

    def memories_at(
        self, here: Workplace, home: str, environ: Mapping[str, str]
    ) -> Iterator[MemoryPlace]:
        yield MemoryPlace(f"{home}/.gull", NOTES, here.root, "Gull's notes")

    def is_transcript(self, path: str) -> bool:
        return path.endswith("gull.jsonl")

    def open_transcript(
        self, source: TranscriptSource, learnt: Checkpoint | None, step: Step
    ) -> LineTranscript:
        return LineTranscript(GullReader, source.path, learnt, step)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    supported = (*registry.SUPPORTED, GullSupport())
    monkeypatch.setattr(registry, "SUPPORTED", supported)
    monkeypatch.setattr("ricordo.services.workspace.places.SUPPORTED", supported)


def test_its_memory_is_found(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (machine.home / ".gull").mkdir()
    (machine.home / ".gull" / "gull.md").write_text("Cry.\n")
    place = find_memory(None, machine.environment(machine.directory("work")))
    assert (place.layout, place.reason) == (NOTES, "Gull's notes")


def test_its_sessions_are_read(tmp_path: Path) -> None:
    path = tmp_path / "gull.jsonl"
    path.write_text(json.dumps({"cry": "Over here."}))
    source = registry.find_named_session(str(path))
    assert source.agent == registry.find_agent("gull") == GULL
    assert [turn.text for turn in registry.open_transcript(source).messages()] == ["Over here."]


def test_handoffs_can_be_written_for_it() -> None:
    assert GULL in handoff_targets()
    assert registry.join_agent_names() == "Claude Code, Codex, opencode or Gull"
