from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ricordo.agents.claude import folder as claude_settings
from ricordo.agents.claude.location import make_slug
from ricordo.errors import MemoryNotFound
from ricordo.services.workspace.places import (
    NoMemoryFound,
    find_all_memories,
    find_candidates,
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


def found(machine: Machine, path: Path | None, cwd: Path | None = None) -> list[str]:
    places = find_memories(str(path) if path else None, machine.environment(cwd))
    return [place.root for place in places]


def test_a_path_is_the_memory_itself_or_its_index(machine: Machine) -> None:
    root = fill(machine.directory("notes"))
    for path in (root, root / "MEMORY.md"):
        assert found(machine, path) == [str(root)]
    assert find_memory("notes", machine.environment()).root == str(root)


def test_a_path_through_a_symbolic_link_is_the_real_one(machine: Machine) -> None:
    root = fill(machine.directory("notes"))
    (machine.path / "link").symlink_to(root)
    assert found(machine, machine.path / "link") == [str(root)]


def test_the_pages_of_a_wiki_lead_to_the_whole(machine: Machine) -> None:
    root = machine.directory("tides")
    fill(root / "wiki", "index.md")
    (root / "raw").mkdir()
    for path in (root, root / "wiki", root / "wiki" / "index.md"):
        assert found(machine, path) == [str(root)]


def test_a_project_leads_to_its_auto_memory_from_all_of_its_worktrees(machine: Machine) -> None:
    main = machine.repository("main")
    linked = machine.worktree(main, "linked")
    (linked / "deep").mkdir()
    memory = str(machine.memory(main))
    for directory in (main, linked, linked / "deep"):
        assert found(machine, directory) == [memory]
        assert found(machine, None, cwd=directory) == [memory]
    assert find_memory(None, machine.environment(linked)).project == str(main)


def test_a_memory_of_an_older_version_is_found_by_the_directory(machine: Machine) -> None:
    machine.repository("main")
    deep = machine.directory("main/deep")
    memory = str(machine.memory(deep))
    assert found(machine, None, cwd=deep) == [memory]


def test_a_renamed_project_is_found_by_a_session_that_worked_in_it(machine: Machine) -> None:
    project = machine.repository("new name")
    memory = machine.memory("/gone/old-name")
    machine.transcript(memory.parent, "/gone/old-name", "old")
    machine.transcript(memory.parent, project, "new")
    (place,) = find_memories(None, machine.environment(project))
    assert place.root == str(memory)
    assert str(project) in place.reason


def test_a_long_path_is_found_by_its_beginning_and_a_session(machine: Machine) -> None:
    project = machine.directory("x" * 120 + "/" + "y" * 120)
    cut = machine.config / "projects" / make_slug(str(project))[:200]
    memory = fill(Path(f"{cut}-1a2b") / "memory")
    fill(Path(f"{cut}-3c4d") / "memory")
    with pytest.raises(NoMemoryFound):
        found(machine, None, cwd=project)
    machine.transcript(memory.parent, project)
    assert found(machine, None, cwd=project) == [str(memory)]
    assert str(project) in [place.project for place in find_all_memories(machine.environment())]


def test_long_paths_that_begin_alike_are_told_apart_by_their_sessions(machine: Machine) -> None:
    projects = [machine.directory("x" * 200 + name) for name in ("", "/one", "/two")]
    # one folder begins as all of them do, and the directory around them is no project
    for number, project in enumerate(projects[1:]):
        folder = machine.config / "projects" / f"{make_slug(str(project))[:200]}-{number}a2b"
        fill(folder / "memory")
        machine.transcript(folder, project / "src")
    places = find_all_memories(machine.environment())
    assert [place.project for place in places] == [str(it) for it in projects[1:]]


def test_outside_git_the_directory_above_counts_but_not_the_home(machine: Machine) -> None:
    machine.memory(machine.home)
    deep = machine.directory("home/work/deep")
    with pytest.raises(NoMemoryFound):
        found(machine, None, cwd=deep)
    memory = machine.memory(machine.home / "work")
    assert found(machine, None, cwd=deep) == [str(memory)]


def test_settings_lead_to_the_memory(machine: Machine) -> None:
    memory = fill(machine.home / "kept")
    path = machine.config / "settings.json"
    machine.settings(path, {"autoMemoryDirectory": "~/kept"})
    place = find_memory(None, machine.environment())
    assert (place.root, place.reason) == (str(memory), f"autoMemoryDirectory in {path}")


def test_the_candidates_come_most_likely_first(machine: Machine) -> None:
    project = machine.repository("project")
    expected = [
        machine.memory(project),
        fill(machine.home / ".codex" / "memories", "memory_summary.md"),
        fill(project / ".wiki", "_index.md"),
        fill(project / "memory", "index.md"),
        fill(project / ".claude" / "agent-memory" / "reviewer"),
    ]
    places = find_candidates(machine.environment(), str(project))
    assert [place.root for place in places] == [str(path) for path in expected]
    assert find_clear_choice(places) == places[0]
    assert find_clear_choice(places[1:]) is None
    assert find_clear_choice(places[2:3]) == places[2]
    assert find_clear_choice([]) is None


def test_who_works_inside_a_wiki_is_asked_and_who_names_it_is_not(machine: Machine) -> None:
    root = machine.repository("tides")
    fill(root, "index.md")
    (root / "log.md").touch()
    memory = machine.memory(root)
    assert found(machine, root) == [str(root)]
    assert found(machine, None, cwd=root) == [str(root), str(memory)]
    assert find_clear_choice(find_memories(None, machine.environment(root))) is None


def test_a_plain_folder_of_notes_is_a_memory(machine: Machine) -> None:
    notes = machine.directory("notes")
    (notes / "pier.md").touch()
    fill(machine.home / ".codex" / "memories", "memory_summary.md")
    for path in (notes, None):
        place = find_memory(str(path) if path else None, machine.environment(notes))
        assert (place.root, place.layout.kind) == (str(notes), "folder")


def test_a_named_folder_of_notes_is_meant_without_the_wiki_beside_it(machine: Machine) -> None:
    project = machine.repository("main")
    notes = machine.directory("main/memory")
    (notes / "AGENTS.md").write_text("# For agents\n")
    (notes / "tides.md").write_text("Text.\n")
    fill(project / "wiki", "index.md")
    (project / "wiki" / "log.md").write_text("# Log\n")
    (project / "raw").mkdir()
    named = find_each_memory(str(notes), machine.environment())
    assert [place.root for place in named] == [str(notes)]


def test_an_empty_directory_is_a_memory_only_where_it_was_named(machine: Machine) -> None:
    empty = machine.directory("empty")
    assert found(machine, empty) == [str(empty)]
    with pytest.raises(NoMemoryFound):
        found(machine, None, cwd=empty)


def test_a_project_with_texts_is_no_memory(machine: Machine) -> None:
    project = machine.repository("project")
    (project / "README.md").touch()
    fill(project / "docs", "guide.md")
    for path in (project, None):
        with pytest.raises(NoMemoryFound):
            found(machine, path, cwd=project)
    assert found(machine, project / "docs") == [str(project / "docs")]


def test_the_memory_of_a_project_goes_before_its_texts(machine: Machine) -> None:
    project = machine.directory("project")
    (project / "thoughts.md").touch()
    assert found(machine, project) == [str(project)]
    memory = machine.memory(project)
    assert found(machine, project) == [str(memory)]


def test_where_nothing_is_the_error_says_where_it_looked(machine: Machine) -> None:
    project = machine.repository("project")
    with pytest.raises(NoMemoryFound) as caught:
        found(machine, None, cwd=project)
    looked = [place.root for place in caught.value.searched]
    assert looked == [
        str(machine.project_folder(project) / "memory"),
        str(machine.home / ".codex" / "memories"),
    ]
    assert all(root in str(caught.value) for root in looked)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["missing", "missing/MEMORY.md", "a.txt", "pipe.md", "README.md"])
def test_a_path_that_is_no_memory_is_refused(machine: Machine, name: str) -> None:
    for file in ("a.txt", "README.md"):
        (machine.path / file).touch()
    os.mkfifo(machine.path / "pipe.md")
    with pytest.raises(MemoryNotFound):
        found(machine, machine.path / name)


def test_names_that_steer_a_terminal_are_told_visibly(machine: Machine) -> None:
    with pytest.raises(MemoryNotFound) as caught:
        found(machine, machine.path / "a\x1b]0;b\n")
    assert str(caught.value).isprintable()


def test_a_memory_that_was_named_knows_its_project(machine: Machine) -> None:
    project = machine.repository("project")
    memory = machine.memory(project)
    machine.transcript(memory.parent, project / "deep")
    assert find_memory(str(memory), machine.environment()).project == str(project)
    agent = fill(project / ".claude" / "agent-memory" / "reviewer")
    assert find_memory(str(agent), machine.environment()).project == str(project)


def test_all_memories_are_those_of_every_agent_and_every_known_project(machine: Machine) -> None:
    main = machine.repository("main")
    linked = machine.worktree(main, "linked")
    machine.transcript(machine.project_folder(linked), linked)
    machine.transcript(machine.project_folder("/gone"), "/gone/deep")
    expected = {
        machine.memory(main): str(main),
        machine.memory("/gone"): "/gone",
        machine.memory("/unknown"): "",
        fill(machine.config / "agent-memory" / "reviewer"): "",
        fill(main / ".claude" / "agent-memory-local" / "tester"): str(main),
        fill(machine.home / ".codex" / "memories", "memory_summary.md"): "",
        fill(machine.home / ".letta" / "agents" / "a" / "memory", "a.md"): "",
        fill(main / ".wiki", "_index.md"): str(main),
        fill(main / "memory", "index.md"): str(main),
    }
    places = find_all_memories(machine.environment())
    assert {Path(place.root): place.project for place in places} == expected


def test_a_directory_is_listed_once_whatever_leads_to_it(machine: Machine) -> None:
    one, other = machine.repository("one"), machine.repository("other")
    memory = machine.memory(one)
    machine.transcript(memory.parent, one)
    folder = machine.project_folder(other)
    machine.transcript(folder, other)
    (folder / "memory").symlink_to(memory)
    assert [place.root for place in find_all_memories(machine.environment())] == [str(memory)]


def test_a_machine_without_agents_has_no_memories(machine: Machine) -> None:
    shutil.rmtree(machine.home)
    assert find_all_memories(machine.environment()) == []


def test_a_directory_that_nobody_named_is_no_memory_for_texts_far_below(machine: Machine) -> None:
    folder = machine.path / "anywhere"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "text.md").write_text("Somebody's text.\n")
    with pytest.raises(NoMemoryFound):
        find_memory(None, machine.environment(folder))
    assert find_memory(str(folder), machine.environment(folder)).layout.kind == "folder"
