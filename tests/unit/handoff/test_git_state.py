"""The state of a project's repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ricordo.handoff.facts import GitState
from ricordo.handoff.project_git import read_git_state
from tests.unit.machine import Machine, git


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def told(project: Path) -> GitState:
    state = read_git_state(str(project))
    assert state is not None
    return state


def test_without_a_repository_there_is_nothing_to_tell(tmp_path: Path) -> None:
    assert read_git_state(str(tmp_path)) is None
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("no repository")
    assert read_git_state(str(tmp_path)) is None


def test_a_repository_without_commits_has_its_branch_and_its_files(machine: Machine) -> None:
    project = machine.directory("tidepool")
    git(project, "init", "--quiet", "--initial-branch=main")
    (project / "a b.py").write_text("1")
    assert told(project) == GitState("", "main", ("a b.py",), None)


def test_uncommitted_files_are_listed_by_path(machine: Machine) -> None:
    project = machine.repository("tidepool")
    for name in ("kept", "changed", "gone", "old # branch.oid x"):
        (project / name).write_text(name * 20)
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "Berths\n\nwhy")
    (project / "changed").write_text("2")
    (project / "gone").unlink()
    git(project, "mv", "old # branch.oid x", "# branch.oid y")
    (project / "new").mkdir()
    (project / "new" / "à\nb.py").write_text("3")
    state = told(project)
    assert sorted(state.dirty) == [
        *("# branch.oid y", "changed", "gone", "new/à\nb.py", "old # branch.oid x")
    ]
    assert (state.subject, state.unpushed) == ("Berths", None)
    assert state.commit == git(project, "rev-parse", "HEAD").strip()


def test_commits_that_the_upstream_has_not_are_counted(machine: Machine) -> None:
    origin = machine.repository("origin")
    project = machine.path / "tidepool"
    git(machine.path, "clone", "--quiet", str(origin), str(project))
    assert told(project).unpushed == 0
    for name in "ab":
        git(project, "commit", "--quiet", "--allow-empty", "-m", name)
    assert told(project).unpushed == 2


def test_a_commit_that_is_checked_out_by_itself_has_no_branch(machine: Machine) -> None:
    linked = machine.worktree(machine.repository("tidepool"), "linked")
    assert (told(linked).branch, told(linked).subject) == ("", "begin")


def test_of_a_folder_of_a_repository_only_its_own_files_count(machine: Machine) -> None:
    top = machine.repository("everything")
    project = machine.directory("everything/tidepool")
    (top / "beside.py").write_text("1")
    (project / "own.py").write_text("1")
    assert told(project).dirty == ("own.py",)


def test_settings_that_name_another_repository_are_ignored(machine: Machine) -> None:
    project, other = machine.repository("tidepool"), machine.directory("other")
    git(project, "config", "core.worktree", str(other))
    os.mkfifo(other / "secret")
    assert read_git_state(str(project)) is None
