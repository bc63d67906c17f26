"""What stands at a path is told by its content, and never followed or waited for."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from ricordo.storage.file_state import (
    LARGEST,
    FileState,
    MissingFile,
    UncheckedFile,
    check_file,
    read_modified,
)


def test_a_plain_file_is_identified_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    path.parent.mkdir()
    path.write_bytes(b"x" * 3_000_000)
    os.utime(path, (1_000, 1_000))
    steps: list[int] = []
    found = check_file(str(tmp_path), "a/b.txt", lambda: steps.append(1))
    assert found == FileState(sha256(path.read_bytes()).hexdigest(), 3_000_000, 1_000.0)
    assert len(steps) >= 3
    assert read_modified(str(tmp_path), "a/b.txt") == 1_000.0


@pytest.mark.parametrize("path", ["none", "none/b", "file/inside", "n" * 300])
def test_what_is_not_there_is_gone(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("")
    assert check_file(str(tmp_path), path) is MissingFile.GONE
    assert read_modified(str(tmp_path), path) is None


@pytest.mark.parametrize(
    "path", ["", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "a\0b", "\ud800"]
)
def test_what_is_outside_is_not_read(tmp_path: Path, path: str) -> None:
    assert check_file(str(tmp_path), path) is UncheckedFile.OUTSIDE


def test_links_pipes_folders_and_what_is_too_large_are_reported_as_such(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "link").symlink_to("real/file")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "behind").symlink_to("real")
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(LARGEST + 1)
    expected = {
        "folder": UncheckedFile.NOT_REGULAR,
        "pipe": UncheckedFile.NOT_REGULAR,
        "link": UncheckedFile.LINK,
        "dangling": UncheckedFile.LINK,
        "behind/file": UncheckedFile.LINK,
        "large": UncheckedFile.TOO_LARGE,
    }
    assert {path: check_file(str(tmp_path), path) for path in expected} == expected
    assert check_file(str(tmp_path / "nowhere"), "x") is UncheckedFile.UNREADABLE


def test_a_project_may_itself_lie_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "link").symlink_to("real")
    assert isinstance(check_file(str(tmp_path / "link"), "file"), FileState)
