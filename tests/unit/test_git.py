from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ricordo import git
from ricordo.agents.workplace import find_main_root
from tests.unit.machine import Machine
from tests.unit.machine import git as run_git


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def main_of(directory: str) -> str | None:
    """The root of the main worktree of the repository that holds `directory`."""
    top = git.find_top_level(directory)
    return find_main_root(top) if top else None


def program_says(directory: Path) -> str:
    """The main worktree of `directory` as the git program tells it."""
    common = os.path.realpath(directory / run_git(directory, "rev-parse", "--git-common-dir")[:-1])
    own = os.path.realpath(directory / run_git(directory, "rev-parse", "--git-dir")[:-1])
    if own == common:
        return run_git(directory, "rev-parse", "--show-toplevel")[:-1]
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def test_a_worktree_and_its_folders_share_the_root_of_the_main_one(machine: Machine) -> None:
    main = machine.repository("work/tide pool")
    linked = machine.worktree(main, "elsewhere/linked")
    for top in (main, linked):
        (top / "deep" / "er").mkdir(parents=True)
        for directory in (top, top / "deep", top / "deep" / "er"):
            assert main_of(str(directory)) == str(main) == program_says(directory)
            assert git.find_top_level(str(directory)) == str(top)


def test_a_submodule_counts_by_itself(machine: Machine) -> None:
    outer, inner = machine.repository("outer"), machine.repository("inner")
    allowed = ("-c", "protocol.file.allow=always")
    run_git(outer, *allowed, "submodule", "--quiet", "add", str(inner), "sub")
    assert main_of(str(outer / "sub")) == str(outer / "sub") == program_says(outer / "sub")


def test_a_separate_git_directory_changes_nothing(machine: Machine) -> None:
    top = machine.directory("top")
    run_git(top, "init", "--quiet", "--separate-git-dir", str(machine.path / "kept"))
    assert main_of(str(top)) == str(top) == program_says(top)


def test_the_worktrees_of_a_bare_repository_share_the_repository(machine: Machine) -> None:
    origin = machine.repository("origin")
    bare = machine.path / "bare.git"
    run_git(machine.path, "clone", "--quiet", "--bare", str(origin), str(bare))
    linked = machine.worktree(bare, "linked")
    assert main_of(str(linked)) == str(bare) == program_says(linked)


def test_there_is_no_root_without_a_repository(machine: Machine) -> None:
    assert main_of(str(machine.directory("plain"))) is None
    assert main_of(str(machine.path / "not there")) is None


def test_no_git_program_is_needed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    main = machine.repository("main")
    linked = machine.worktree(main, "linked")
    monkeypatch.setenv("PATH", str(machine.directory("empty")))
    assert main_of(str(linked)) == main_of(str(main)) == str(main)


def test_a_folder_that_only_says_to_be_a_worktree_has_no_root(machine: Machine) -> None:
    main = machine.repository("main")
    linked = machine.worktree(main, "linked")
    forged, other = machine.directory("forged"), machine.directory("other")
    (forged / ".git").write_text((linked / ".git").read_text())
    own = machine.directory("own")
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text(f"{main}/.git\n")
    (own / "gitdir").write_text(f"{other}/.git\n")
    (other / ".git").write_text(f"gitdir: {own}\n")
    assert main_of(str(forged)) is None
    assert main_of(str(other)) is None


@pytest.mark.parametrize("text", ["", "gitdir:", "gitdir: /nowhere\n", "\0\0", "x" * 100_000])
def test_a_git_file_with_a_missing_target_has_no_root(machine: Machine, text: str) -> None:
    top = machine.directory("top")
    (top / ".git").write_text(text)
    assert main_of(str(top)) is None


def test_only_read_only_commands_are_run(machine: Machine) -> None:
    with pytest.raises(KeyError):
        git.run_git(str(machine.path), "gc")


def test_variables_of_the_caller_do_not_steer_git(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = machine.repository("here"), machine.repository("there")
    monkeypatch.setenv("GIT_DIR", str(there / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(there))
    answer = git.run_git(str(here), "rev-parse", "--show-toplevel")
    assert answer == os.fsencode(here) + b"\n"


def test_nothing_that_a_repository_configures_is_run(machine: Machine) -> None:
    main = machine.repository("main")
    trap, sprung = main / "trap.sh", main / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch '{sprung}'\n")
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program"):
        run_git(main, "config", key, str(trap))
    run_git(main, "config", "log.showSignature", "true")
    assert git.run_git(str(main), "status", "--porcelain") is not None
    assert git.run_git(str(main), "log", "-p") is not None
    assert not sprung.exists()


def test_an_answer_that_is_too_long_is_none(machine: Machine) -> None:
    main = machine.repository("main")
    assert git.run_git(str(main), "log", max_bytes=10) is None


def test_an_answer_that_takes_too_long_is_none(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = machine.directory("bin") / "git"
    program.write_text("#!/bin/sh\nread never < /dev/zero\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert git.run_git(str(machine.path), "log", seconds=0.05) is None


def test_status_passes_no_content_through_programs(machine: Machine) -> None:
    top = machine.repository("top")
    (top / ".gitattributes").write_text("*.a filter=evil\n*.b filter=e=v.il\n")
    for name in ("x.a", "x.b"):
        (top / name).write_text("one\n")
    run_git(top, "add", "--all")
    run_git(top, "commit", "--quiet", "-m", "begin")
    mark = machine.path / "started"
    for driver in ("evil", "e=v.il"):
        for setting in ("clean", "process"):
            run_git(top, "config", f"filter.{driver}.{setting}", f"touch {mark}; cat")
        run_git(top, "config", f"filter.{driver}.required", "true")
    for name in ("x.a", "x.b"):
        (top / name).write_text("two\n")
        os.utime(top / name, (1, 1))
    answer = git.run_git(str(top), "status", "--porcelain", "-z")
    assert answer == b" M x.a\0 M x.b\0"
    assert not mark.exists()
