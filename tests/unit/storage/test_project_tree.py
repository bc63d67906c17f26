"""Listing a project that may be hostile: nothing is followed out of it, executed, or waited for."""

from __future__ import annotations

import os
import shlex
import socket
from pathlib import Path

import pytest

from ricordo.storage import project_tree
from ricordo.storage.project_tree import ProjectTree, list_project
from tests.unit.machine import git


def listed(root: Path) -> ProjectTree:
    return list_project(str(root), lambda: None)


@pytest.fixture(params=("git", "plain"))
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A project, once in git and once not."""
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "tides.py").write_text("def height(): ...\n")
    (root / ".gitignore").write_text("/out/\n*.tmp\n")
    if request.param == "git":
        git(root, "init", "--quiet")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "-m", "begin")
    return root


def test_files_that_are_left_out_are_not_listed(project: Path) -> None:
    (project / "out").mkdir()
    (project / "out" / "page.html").write_text("made\n")
    (project / "a.tmp").write_text("made\n")
    (project / "new.py").write_text("not yet in git\n")
    tree = listed(project)
    assert set(tree.files) == {".gitignore", "src/tides.py", "new.py"}
    assert tree.folders == {"src"}
    assert tree.exists("out/page.html"), "it is there all the same"
    assert tree.exists("src/gone.py") is False
    assert tree.ignored.ignores("out/page.html")


def test_a_deleted_file_is_not_there(project: Path) -> None:
    (project / "src" / "tides.py").unlink()
    assert not listed(project).has("src/tides.py")


def test_pipes_sockets_and_links_are_not_opened(project: Path, tmp_path: Path) -> None:
    os.mkfifo(project / "pipe.py")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(project)
        try:
            listening.bind("talk.py")
        finally:
            os.chdir(here)
    secret = tmp_path / "secret.py"
    secret.write_text("PASSWORD\n")
    (project / "link.py").symlink_to(secret)
    (project / "loop").symlink_to(project)
    (project / "self").symlink_to("self")
    tree = listed(project)
    assert set(tree.files) == {".gitignore", "src/tides.py"}
    assert tree.links == {"link.py", "loop", "self"}
    assert tree.read("link.py") is None
    assert tree.exists("loop/src/tides.py") is None, "what lies behind a link is not known"
    assert tree.exists("../secret.py") is None


def test_a_folder_that_became_a_link_is_not_followed(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "tides.py").write_text("PASSWORD\n")
    (project / "src" / "tides.py").unlink()
    (project / "src").rmdir()
    (project / "src").symlink_to(outside)
    tree = listed(project)
    assert "src/tides.py" not in tree.files
    assert tree.read("src/tides.py") is None


def test_of_a_huge_file_no_more_is_read_than_the_beginning(project: Path) -> None:
    with (project / "huge.py").open("wb") as file:
        file.truncate(8 * 1024**3)
    tree = listed(project)
    assert tree.files["huge.py"].size == 8 * 1024**3
    assert len(tree.read("huge.py") or b"") == project_tree.LARGEST_FILE


def test_what_is_too_much_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_tree, "MOST_FILES", 3)
    for number in range(5):
        (project / f"{number}.py").write_text("x\n")
    tree = listed(project)
    assert len(tree.files) == 3
    assert tree.warning == "only 3 files of the project were listed"


def test_listing_that_takes_too_long_ends(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_tree, "MOST_SECONDS", -1.0)
    tree = listed(project)
    assert tree.warning == "only 0 files of the project were listed"


def test_the_settings_of_a_hostile_repository_start_nothing(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    (root / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", "begin")
    mark = tmp_path / "started"
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(mark))}\ncat\n")
    program.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.command",
        "diff.evil.textconv",
        "diff.external",
        "alias.ls-files",
        "gpg.program",
        "credential.helper",
    ):
        git(root, "config", key, str(program))
    git(root, "config", "log.showSignature", "true")
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "fsmonitor-watchman", "post-checkout"):
        (hooks / name).write_text(program.read_text())
        (hooks / name).chmod(0o755)
    # touched, so that git would have to run the filter to know whether it is another file
    (root / "a.py").write_text("x = 2\n")
    os.utime(root / "a.py", (1, 1))
    tree = listed(root)
    assert set(tree.files) == {".gitattributes", "a.py"}
    assert tree.commit
    assert not mark.exists()


def test_a_worktree_that_is_set_elsewhere_is_not_listed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("PASSWORD\n")
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    git(root, "init", "--quiet")
    git(root, "config", "core.worktree", str(outside))
    assert set(listed(root).files) == {"a.py"}
