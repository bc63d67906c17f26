"""The environment of ambient recall: the work in the directory of the project."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.services.search.ambient import describe_environment
from ricordo.services.workspace.environment import Environment


def git(folder: Path, *words: str) -> None:
    settings = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    (made / "harbour").mkdir(parents=True)
    (made / "lighthouse.py").write_text("lamp = 1\n" * 20)
    git(made, "init", "-b", "tides")
    git(made, "add", ".")
    git(made, "commit", "-m", "x")
    git(made, "mv", "lighthouse.py", "beacon.py")
    return made


def words(cwd: Path, project: Path | str) -> list[str]:
    now = "2026-11-20T08:00:00+00:00"
    here = Environment(str(cwd), {}, str(cwd), str(cwd), str(cwd), now)
    return describe_environment(MemoryPlace("/memory", AUTO_MEMORY, str(project)), here).split()


@pytest.mark.parametrize("is_known", [True, False])
def test_directory_branch_and_both_names_of_a_renamed_file_are_told(
    repository: Path, is_known: bool
):
    said = words(repository / "harbour", repository if is_known else "")
    assert {"harbour", "tides", "beacon", "lighthouse"} <= set(said)
    assert not {"hthouse", ".."} & set(said)


def test_work_of_another_project_is_not_told(repository: Path, tmp_path: Path):
    assert words(repository, tmp_path / "elsewhere") == ["Friday", "morning"]


def test_a_worktree_elsewhere_is_work_of_the_project(repository: Path, tmp_path: Path):
    git(repository, "worktree", "add", "-b", "ebb", str(tmp_path / "tree"))
    said = words(tmp_path / "tree", repository)
    assert "ebb" in said
    assert ".." not in said
