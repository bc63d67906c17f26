"""Memories in the folders of a checkout: which are found, and which one is chosen."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ricordo.agents import discovery
from ricordo.agents.claude import folder as claude_settings
from ricordo.errors import AmbiguousMemory, WrongUsage
from ricordo.services.workspace.places import (
    NoMemoryFound,
    find_all_memories,
    find_clear_choice,
    find_each_memory,
    find_memories,
    find_memory,
)
from tests.unit.machine import Machine, fill


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(claude_settings, "MANAGED_SETTINGS", ())
    return Machine(tmp_path)


def write_notes(folder: Path, *names: str) -> Path:
    """Write notes without an index."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or ("pier.md",):
        (folder / name).write_text("In the harbour.\n")
    return folder


def found_in(machine: Machine, cwd: Path) -> list[str]:
    """Return the memories that commands find in `cwd`, relative to it."""
    places = find_each_memory(None, machine.environment(cwd))
    return [os.path.relpath(place.root, cwd) for place in places]


@pytest.mark.parametrize(
    "folder",
    [
        "memory",
        "memories",
        ".memory",
        "memory-bank",
        "docs/memory",
        "claude/memory",
        ".claude/memory",
        ".codex/memories",
        "agents/memory",
        "packages/web/.claude/memory",
        "wiki",
        "team-wiki",
        "docs/wiki",
    ],
)
@pytest.mark.parametrize("is_repository", [True, False])
def test_a_memory_is_found_by_the_name_of_its_folder(
    machine: Machine, folder: str, is_repository: bool
) -> None:
    project = (machine.repository if is_repository else machine.directory)("project")
    (project / "README.md").touch()
    write_notes(project / folder)
    assert found_in(machine, project) == [folder]
    place = find_memory(None, machine.environment(project))
    assert place.project == str(project)
    named = find_memory(str(project), machine.environment())
    assert named.root == place.root


def test_any_folder_with_an_index_beside_notes_is_a_memory(machine: Machine) -> None:
    project = machine.repository("project")
    fill(project / "tools/bot/knowledge")
    assert found_in(machine, project) == ["tools/bot/knowledge"]


def test_a_wiki_with_its_sources_is_found_one_level_down(machine: Machine) -> None:
    project = machine.repository("project")
    fill(project / "tides/wiki", "index.md")
    (project / "tides/raw").mkdir()
    assert found_in(machine, project) == ["tides"]
    assert find_memory(None, machine.environment(project)).layout.kind == "wiki"


@pytest.mark.parametrize(
    "folder",
    [
        "node_modules/thing/memory-bank",
        "node_modules/thing",
        "tests/data/agent",
        "templates",
        "sample_notes",
        ".cache/agent",
        "src/features/wiki",
        "src/memory",
    ],
)
def test_what_is_no_memory_of_the_project_is_not_found(machine: Machine, folder: str) -> None:
    project = machine.repository("project")
    if folder.startswith("src"):
        write_notes(project / folder)
    else:
        fill(project / folder)
    with pytest.raises(NoMemoryFound):
        found_in(machine, project)


@pytest.mark.parametrize("file", ["README.md", "notes.txt"])
def test_a_folder_of_that_name_without_notes_is_none(machine: Machine, file: str) -> None:
    project = machine.repository("project")
    write_notes(project / "docs/memory", file)
    write_notes(project / "assets", "MEMORY.md")
    with pytest.raises(NoMemoryFound):
        found_in(machine, project)


def test_neither_other_repositories_nor_links_are_looked_through(machine: Machine) -> None:
    other = machine.repository("project/libs/other")
    fill(other / "docs/memory")
    project = machine.repository("project")
    (project / "link").symlink_to(fill(machine.path / "elsewhere").parent)
    with pytest.raises(NoMemoryFound):
        found_in(machine, project)
    assert found_in(machine, other) == ["docs/memory"]


def test_of_several_memories_none_is_chosen(machine: Machine) -> None:
    project = machine.repository("project")
    for folder in ("docs/memory", ".claude/memory", "web/.claude/memory"):
        fill(project / folder)
    expected = [".claude/memory", "docs/memory", "web/.claude/memory"]
    assert found_in(machine, project) == expected
    environment = machine.environment(project)
    for path in (None, str(project)):
        with pytest.raises(AmbiguousMemory) as caught:
            find_memory(path, environment)
        assert isinstance(caught.value, WrongUsage)
        assert all(folder in caught.value.message for folder in expected)
        assert "-m .claude/memory" in caught.value.message
    assert find_clear_choice(find_memories(None, environment)) is None


def test_the_nearest_memory_is_chosen(machine: Machine) -> None:
    project = machine.repository("project")
    fill(project / "docs/memory")
    fill(project / "web/.claude/memory")
    (project / "web/src").mkdir()
    (project / "docs/memory/topics").mkdir()
    assert found_in(machine, project / "web") == [".claude/memory"]
    assert found_in(machine, project / "docs") == ["memory"]
    assert found_in(machine, project / "docs/memory") == ["."]
    assert found_in(machine, project / "docs/memory/topics") == [".."]
    with pytest.raises(AmbiguousMemory):
        find_memory(None, machine.environment(project / "web/src"))


def test_the_memory_of_an_agent_for_the_project_comes_first(machine: Machine) -> None:
    project = machine.repository("project")
    fill(project / "docs/memory")
    fill(project / "memories")
    own = machine.memory(project)
    assert find_memory(None, machine.environment(project)).root == str(own)
    places = find_memories(None, machine.environment(project))
    assert find_clear_choice(places) == places[0]


def test_a_memory_in_the_project_comes_before_those_of_all_projects(machine: Machine) -> None:
    project = machine.repository("project")
    general = fill(machine.home / ".codex" / "memories", "memory_summary.md")
    assert find_memory(None, machine.environment(project)).root == str(general)
    own = fill(project / "docs/memory")
    places = find_memories(None, machine.environment(project))
    assert [place.root for place in places] == [str(own), str(general)]
    assert find_clear_choice(places) == places[0]


def test_memories_of_sub_agents_are_chosen_from_only_where_there_is_no_other(
    machine: Machine,
) -> None:
    project = machine.repository("project")
    for name in ("reviewer", "tester"):
        fill(project / ".claude/agent-memory" / name)
    with pytest.raises(AmbiguousMemory):
        find_memory(None, machine.environment(project))
    fill(project / "docs/memory")
    assert found_in(machine, project) == ["docs/memory"]


def test_a_folder_of_notes_is_itself_and_not_a_part_of_it(machine: Machine) -> None:
    vault = write_notes(machine.path / "vault")
    fill(vault / "docs/memory")
    for path in (None, str(vault)):
        assert find_memory(path, machine.environment(vault)).root == str(vault)
    topics = machine.directory("topics")
    write_notes(topics / "tides")
    write_notes(topics / "memories")
    assert find_memory(str(topics), machine.environment()).root == str(topics)
    # without other notes it is a project, whatever files it has
    plain = machine.directory("plain")
    write_notes(plain / "memories")
    assert find_memory(str(plain), machine.environment()).root == str(plain / "memories")


def test_a_home_is_not_searched(machine: Machine) -> None:
    fill(machine.home / "somewhere/docs/memory")
    for directory in (machine.home, machine.path):
        with pytest.raises(NoMemoryFound) as caught:
            find_memory(None, machine.environment(directory))
        assert "folders of the project" not in caught.value.message


def test_an_error_says_what_was_tried(machine: Machine) -> None:
    project = machine.repository("project")
    (project / "src").mkdir()
    with pytest.raises(NoMemoryFound) as caught:
        find_memory(None, machine.environment(project))
    message = caught.value.message
    assert "2 folders of the project" in message
    assert "MEMORY.md beside notes" in message
    assert "ricordo list" in message


def test_the_memories_of_the_project_here_are_among_all(machine: Machine) -> None:
    project = machine.repository("project")
    deep = fill(project / "tools/bot/knowledge")
    other = machine.repository("other")
    machine.transcript(machine.project_folder(other), other)
    usual = fill(other / "docs/memory")
    places = find_all_memories(machine.environment(project))
    assert [place.root for place in places] == [str(usual), str(deep)]


def test_a_search_ends_at_its_limits(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_FOLDERS", 20)
    project = machine.repository("project")
    for number in range(30):
        (project / f"n{number:02}").mkdir()
    fill(project / "n29/knowledge")
    with pytest.raises(NoMemoryFound) as caught:
        find_memory(None, machine.environment(project))
    assert "the first 20 folders" in caught.value.message
    # the usual places are looked at first
    fill(project / "docs/memory")
    found = discovery.find_in_folders(str(project))
    assert found == ((str(project / "docs/memory"),), 20, False)


def test_a_large_checkout_is_searched_at_once(machine: Machine) -> None:
    project = machine.directory("project")
    for number in range(1_500):
        folder = project / f"a{number % 30}" / f"b{number}"
        folder.mkdir(parents=True)
        (folder / "code.py").touch()
    fill(project / "a9/knowledge")
    took = []
    for _ in range(5):
        start = time.process_time()
        found = discovery.find_in_folders(str(project))
        took.append(time.process_time() - start)
    assert found.roots == (str(project / "a9/knowledge"),)
    assert min(took) < 0.15, "50 ms on a quiet machine"
