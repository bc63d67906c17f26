"""Search over all memories of a machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.claude import folder as claude_settings
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.services.search.search import SearchAll
from ricordo.settings.settings import Settings
from ricordo.storage import reader
from tests.support.builders import note_text, write_memory
from tests.unit.machine import Machine

HARBOUR = {
    "tides.md": note_text("tides", "Sines has a tide gauge.\n", "About water"),
    "gauge.md": note_text("gauge reading", "At noon, see [it](gone.md).\n", "When it is read"),
}
OFFICE = {
    "gauge.md": note_text("gauge", "A dial.\n", "Of the boiler"),
    "boiler.md": note_text("boiler", "The gauge, the gauge and the gauge.\n", "Of the cellar"),
}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(claude_settings, "MANAGED_SETTINGS", ())
    return Machine(tmp_path)


def places(machine: Machine) -> list[MemoryPlace]:
    """Two memories."""
    return [
        MemoryPlace(str(write_memory(machine.directory(name), notes)), AUTO_MEMORY)
        for name, notes in {"harbour": HARBOUR, "office": OFFICE}.items()
    ]


def found(search: SearchAll, typed: str, most: int = 50) -> list[str]:
    return [
        f"{os.path.basename(it.place.root)}/{it.hit.result.note.path}"
        for it in search.find(typed, most).hits
    ]


def test_names_come_first_then_texts_whatever_memory_they_are_in(machine: Machine) -> None:
    search = SearchAll(machine.environment(), Settings(), places(machine))
    assert found(search, "gauge") == [
        "office/gauge.md",
        "harbour/gauge.md",
        "office/boiler.md",
        "harbour/tides.md",
    ]


def test_the_first_are_those_of_the_whole(machine: Machine) -> None:
    search = SearchAll(machine.environment(), Settings(), places(machine))
    assert found(search, "gauge", most=2) == ["office/gauge.md", "harbour/gauge.md"]
    assert search.find("gauge", most=2).total == 4
    assert search.find("zebra").hits == ()


def test_conditions_hold_in_every_memory(machine: Machine) -> None:
    search = SearchAll(machine.environment(), Settings(), places(machine))
    assert sorted(found(search, '"gauge" type:project')) == [
        "harbour/gauge.md",
        "harbour/tides.md",
        "office/boiler.md",
        "office/gauge.md",
    ]
    assert found(search, "has:dead-link") == ["harbour/gauge.md"]


def test_what_one_memory_does_not_understand_another_one_may(machine: Machine) -> None:
    search = SearchAll(machine.environment(), Settings(), places(machine))
    assert found(search, ">nobody") == []
    assert search.find(">nobody").warnings == (
        "> expects the name of a note, there is no “nobody”",
    )
    # only one of them has such a note, and nothing leads to it
    assert found(search, ">boiler") == []
    assert search.find(">boiler").warnings == ()


def test_a_memory_that_cannot_be_read_is_left_out_with_a_remark(machine: Machine) -> None:
    gone = MemoryPlace(str(machine.path / "gone\x1b"), AUTO_MEMORY)
    search = SearchAll(machine.environment(), Settings(), [gone, *places(machine)])
    assert len(found(search, "gauge")) == 4
    (warning,) = search.warnings
    assert "gone" in warning
    assert warning.isprintable()


def test_all_memories_of_the_machine_are_searched_and_progress_is_told(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # once they are older, which they become meanwhile on a slow machine, the files are read again
    monkeypatch.setattr(reader, "SETTLING_NS", 3600 * 10**9)
    project = machine.repository("project")
    memory = write_memory(machine.memory(project), HARBOUR)
    machine.transcript(memory.parent, project)
    told: list[tuple[str, int, int]] = []
    search = SearchAll(
        machine.environment(),
        Settings(),
        progress=lambda place, done, of: told.append((place.root, done, of)),
    )
    assert found(search, "tides") == ["memory/tides.md"]
    assert [root for root, done, of in told if done == of] == [str(memory)]
    told.clear()
    SearchAll(
        machine.environment(),
        Settings(),
        progress=lambda place, done, of: told.append(("", done, of)),
    )
    assert told == []


def test_names_with_no_more_than_the_letters_come_last(machine: Machine) -> None:
    rain = {"rain.md": note_text("tin drum edge", "Loud.\n", "It"), **OFFICE}
    tide = {"port.md": note_text("port", "The tide is out.\n", "It")}
    memories = [
        MemoryPlace(str(write_memory(machine.directory(name), notes)), AUTO_MEMORY)
        for name, notes in {"rain": rain, "tide": tide}.items()
    ]
    search = SearchAll(machine.environment(), Settings(), memories)
    assert found(search, "tide") == ["tide/port.md", "rain/rain.md"]
    (warning,) = search.find("tide after:yesterday").warnings
    assert warning.startswith("after: expects")
