from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.claude import folder as claude_folder
from ricordo.agents.claude import folder as claude_settings
from ricordo.agents.claude import location as claude
from ricordo.agents.claude.folder import find_installation
from ricordo.agents.workplace import find_workplace
from tests.unit.machine import Machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(claude_settings, "MANAGED_SETTINGS", (str(tmp_path / "managed.json"),))
    return Machine(tmp_path)


def auto_memory(machine: Machine, directory: Path) -> MemoryPlace:
    agent = find_installation(str(machine.home), machine.environ)
    return claude.find_auto_memory(agent, find_workplace(str(directory)))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/ana/work/tidepool", "-home-ana-work-tidepool"),
        ("/a/b_c.d e", "-a-b-c-d-e"),
        ("/caf\u00e9/\u6e2f", "-caf---"),
        ("/\U0001f30a", "---"),
    ],
)
def test_a_slug_keeps_letters_and_digits(path: str, expected: str) -> None:
    assert claude_folder.make_slug(path) == expected


@given(st.text())
def test_a_slug_is_one_safe_name_and_the_slug_of_itself(path: str) -> None:
    slug = claude_folder.make_slug(path)
    assert slug.isascii()
    assert all(char.isalnum() or char == "-" for char in slug)
    assert claude_folder.make_slug(slug) == slug
    assert len(slug) == len(path.encode("utf-16-le", "surrogatepass")) // 2


def test_the_slug_of_the_directory_names_the_folder(machine: Machine) -> None:
    project = machine.directory("tide pool")
    place = auto_memory(machine, project)
    assert place.root == str(
        machine.config / "projects" / claude_folder.make_slug(str(project)) / "memory"
    )
    assert place.project == str(project)
    assert "the directory" in place.reason


def test_all_worktrees_share_the_folder_of_the_main_one(machine: Machine) -> None:
    main = machine.repository("main")
    linked = machine.worktree(main, "linked")
    (linked / "deep").mkdir()
    place = auto_memory(machine, linked / "deep")
    assert place.root == auto_memory(machine, main).root
    assert place.project == str(main)
    assert "git repository" in place.reason


def test_the_strongest_settings_win(machine: Machine) -> None:
    project = machine.repository("project")
    machine.settings(machine.home / ".claude.json", trusting(project))
    layers = [
        machine.config / "settings.json",
        project / ".claude" / "settings.json",
        project / ".claude" / "settings.local.json",
        machine.path / "managed.json",
    ]
    for number, path in enumerate(layers):
        machine.settings(path, {"autoMemoryDirectory": f"/kept/{number}"})
        place = auto_memory(machine, project)
        assert place.root == f"/kept/{number}"
        assert place.reason == f"autoMemoryDirectory in {path}"


def test_settings_name_a_directory_below_the_home(machine: Machine) -> None:
    machine.settings(machine.config / "settings.json", {"autoMemoryDirectory": "~/notes/../kept"})
    assert auto_memory(machine, machine.path).root == str(machine.home / "kept")


def test_a_settings_file_may_be_a_symbolic_link(machine: Machine) -> None:
    target = machine.settings(machine.path / "dotfiles.json", {"autoMemoryDirectory": "/kept"})
    machine.config.mkdir()
    (machine.config / "settings.json").symlink_to(target)
    assert auto_memory(machine, machine.path).root == "/kept"


def trusting(project: Path, answer: object = True) -> dict[str, Any]:
    return {"projects": {str(project): {"hasTrustDialogAccepted": answer}}}


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {"projects": []},
        {"projects": {}},
        {"projects": {"PROJECT": []}},
        {"projects": {"PROJECT": {"hasTrustDialogAccepted": "yes"}}},
        {"projects": {"PROJECT": {"hasTrustDialogAccepted": 1}}},
        {"projects": {"PROJECT": {"hasTrustDialogAccepted": False}}},
    ],
)
def test_the_setting_of_an_untrusted_project_is_ignored(machine: Machine, record: Any) -> None:
    project = machine.repository("project")
    if isinstance(record, dict) and "PROJECT" in record["projects"]:
        record = {"projects": {str(project): record["projects"]["PROJECT"]}}
    machine.settings(machine.home / ".claude.json", record)
    machine.settings(project / ".claude" / "settings.json", {"autoMemoryDirectory": "/stolen"})
    place = auto_memory(machine, project)
    assert place.root.startswith(str(machine.config))
    assert "not trusted" in place.reason


def test_the_record_of_trust_moves_with_the_configuration(machine: Machine) -> None:
    project = machine.directory("project")
    machine.environ["CLAUDE_CONFIG_DIR"] = str(machine.path / "moved")
    machine.settings(machine.path / "moved" / ".claude.json", trusting(project))
    machine.settings(project / ".claude" / "settings.json", {"autoMemoryDirectory": "/kept"})
    assert auto_memory(machine, project).root == "/kept"


def hostile_pipe(path: Path) -> None:
    os.mkfifo(path)


def hostile_size(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b'{"autoMemoryDirectory": "/stolen"')
        file.truncate(50 * 1024 * 1024)


def hostile_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def hostile_link(path: Path) -> None:
    path.symlink_to(path)


def text(content: str) -> Any:
    def write(path: Path) -> None:
        path.write_bytes(content.encode("utf-8", "surrogateescape"))

    write.__name__ = content[:24].encode("ascii", "backslashreplace").decode()
    return write


HOSTILE = [
    hostile_pipe,
    hostile_size,
    hostile_device,
    hostile_link,
    text(""),
    text("{"),
    text("[]"),
    text('["autoMemoryDirectory"]'),
    text("7"),
    text('"/stolen"'),
    text('{"autoMemoryDirectory": "/stolen", "x": NaN}'),
    text('{"autoMemoryDirectory": "/stolen",} // comment'),
    text('{"autoMemoryDirectory": ["/stolen"]}'),
    text('{"autoMemoryDirectory": {"/stolen": 1}}'),
    text('{"autoMemoryDirectory": 7}'),
    text('{"autoMemoryDirectory": ""}'),
    text('{"autoMemoryDirectory": "relative"}'),
    text('{"autoMemoryDirectory": "~ana/notes"}'),
    text('{"autoMemoryDirectory": "/a\\u0000b"}'),
    text('{"autoMemoryDirectory": "/a\\ud800b"}'),
    text('{"autoMemoryDirectory": "~/\\ud800"}'),
    text('{"autoMemoryDirectory": "/\udcff"}'),
    text('{"x": ' + "[" * 100_000),
    text('{"x": ' + "9" * 100_000 + "}"),
]


@pytest.mark.parametrize("spoil", HOSTILE, ids=lambda spoil: spoil.__name__)
def test_invalid_settings_are_ignored_and_named(machine: Machine, spoil: Any) -> None:
    machine.settings(machine.config / "settings.json", {"autoMemoryDirectory": "/kept"})
    local = machine.settings(machine.path / ".claude" / "settings.local.json", {})
    local.unlink()
    spoil(local)
    place = auto_memory(machine, machine.path)
    assert place.root == "/kept"
    assert str(local) in place.reason


def test_settings_without_a_memory_are_not_named(machine: Machine) -> None:
    machine.settings(machine.config / "settings.json", {"autoMemoryDirectory": None, "x": 1})
    assert ";" not in auto_memory(machine, machine.path).reason


def test_a_byte_order_mark_does_no_harm(machine: Machine) -> None:
    path = machine.settings(machine.config / "settings.json", {})
    path.write_bytes(b'\xef\xbb\xbf{"autoMemoryDirectory": "/kept"}')
    assert auto_memory(machine, machine.path).root == "/kept"


def test_the_shell_names_the_folder_only_with_the_configuration(machine: Machine) -> None:
    machine.environ["CLAUDE_CODE_PROJECT_DIR_NAME"] = "tides_1"
    place = auto_memory(machine, machine.path)
    assert claude_folder.make_slug(str(machine.path)) in place.root
    assert "needs CLAUDE_CONFIG_DIR" in place.reason
    machine.environ["CLAUDE_CONFIG_DIR"] = "/moved"
    place = auto_memory(machine, machine.path)
    assert (place.root, place.reason) == (
        "/moved/projects/tides_1/memory",
        "CLAUDE_CODE_PROJECT_DIR_NAME",
    )


@pytest.mark.parametrize("name", ["..", "a/b", "a b", "é", "x" * 65])
def test_the_shell_cannot_name_a_folder_outside(machine: Machine, name: str) -> None:
    machine.environ |= {"CLAUDE_CONFIG_DIR": "/moved", "CLAUDE_CODE_PROJECT_DIR_NAME": name}
    place = auto_memory(machine, machine.path)
    assert place.root == f"/moved/projects/{claude_folder.make_slug(str(machine.path))}/memory"
    assert "not a name that Claude Code accepts" in place.reason


def test_a_folder_is_confirmed_by_a_session_in_the_project(machine: Machine) -> None:
    project = find_workplace(str(machine.directory("x" * 100 + "/" + "y" * 120)))
    start = claude_folder.make_slug(project.root)[:200]
    cwds = {"/p/renamed": [project.root], "/p/other": ["/b"], f"/p/{start}-1a2b": [project.root]}
    found = [place.root for place in claude.find_confirmed_memories(project, cwds)]
    assert found == [f"/p/{start}-1a2b/memory", "/p/renamed/memory"]


def test_a_folder_belongs_to_the_project_whose_slug_is_its_name(tmp_path: Path) -> None:
    there, gone = str(tmp_path / "a-b"), str(tmp_path / "a.b")
    os.mkdir(there)
    folder = f"/p/{claude_folder.make_slug(there)}"
    cwds = {folder: ["/x"], "/p/named": ["/seen", "/before"], "/p/-nothing": []}
    found = claude.find_folder_memories(cwds, [there, gone])
    assert [place.project for place in found] == [there, "/seen", ""]


def test_sub_agents_have_memories_of_the_user_a_project_and_the_machine(
    machine: Machine,
) -> None:
    project = machine.directory("project")
    folders = [
        machine.config / "agent-memory" / "reviewer",
        project / ".claude" / "agent-memory" / "reviewer",
        project / ".claude" / "agent-memory-local" / "tester",
    ]
    for folder in folders:
        folder.mkdir(parents=True)
    agent = find_installation(str(machine.home), machine.environ)
    found = claude.find_sub_agent_memories(agent) + claude.find_project_sub_agent_memories(
        [str(project)]
    )
    assert [place.root for place in found] == [str(folder) for folder in folders]
    assert [place.project for place in found] == ["", str(project), str(project)]
