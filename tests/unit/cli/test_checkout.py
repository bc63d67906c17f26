"""Commands in a checkout with memories in it, as somebody runs them who has just cloned it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from ricordo.cli.main import run
from tests.support.builders import note_text
from tests.unit.machine import fill, git


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty checkout, which is the current directory."""
    path = tmp_path / "checkout"
    (path / "src").mkdir(parents=True)
    git(path, "init", "--quiet")
    monkeypatch.chdir(path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return path


def test_a_memory_is_linted_without_its_path(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(checkout / "docs/memory")
    assert run(["lint", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["memory"]["path"] == str(checkout / "docs/memory")
    assert run(["search", "harbour"]) == 0
    assert capsys.readouterr().out.startswith("pier.md")
    assert run(["load"]) == 0
    assert run([]) == 0


def test_several_memories_are_all_linted(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("docs/memory", ".claude/memory"):
        fill(checkout / folder)
        (checkout / folder / "quay.md").write_text(note_text("quay", "Long.\n"))
    assert run(["lint", "--json", "--fail-on", "never"]) == 0
    documents = json.loads(capsys.readouterr().out)["memories"]
    assert [each["memory"]["path"] for each in documents] == [
        str(checkout / ".claude/memory"),
        str(checkout / "docs/memory"),
    ]
    assert run(["lint", "--fail-on", "never", "--full"]) == 0
    printed = capsys.readouterr().out
    for folder in ("docs/memory", ".claude/memory"):
        assert f"{folder}/quay.md: " in printed
    assert run(["lint", "--diff", "--unsafe", "--fail-on", "never"]) == 0


@pytest.mark.parametrize(
    "words",
    [["load"], ["search", "pier"], ["show", "pier"], ["new", "quay"], ["lint", "--fix"], []],
)
def test_other_commands_list_them_and_choose_none(
    checkout: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("docs/memory", "memories"):
        fill(checkout / folder)
    assert run(words) == 2
    error = capsys.readouterr().err
    assert "docs/memory, memories" in error or "memories, docs/memory" in error
    choice = re.search("`-m ([^`]+)`", error)
    assert choice
    assert run([*words, "-m", choice[1]]) == 0


def test_from_another_folder_they_are_listed_by_relative_paths(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("docs/memory", "memories"):
        fill(checkout / folder)
    monkeypatch.chdir(checkout / "src")
    assert run(["load"]) == 2
    assert "../memories, ../docs/memory" in capsys.readouterr().err


def test_without_a_memory_it_says_what_was_tried(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "README.md").touch()
    assert run(["lint", "--json"]) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    assert "2 folders of the project" in error["message"]
    assert "MEMORY.md" in error["message"]
    assert "ricordo list" in error["hint"]


def test_several_findings_are_dismissed_by_abbreviated_ids(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = fill(checkout / "docs/memory")
    for name in ("quay", "buoy"):
        (memory / f"{name}.md").write_text(note_text(name, "Long.\n"))

    def findings() -> list[str]:
        capsys.readouterr()
        assert run(["lint", "--json", "--select", "unindexed-note"]) == 0
        return [each["id"] for each in json.loads(capsys.readouterr().out)["findings"]]

    first, second = findings()
    assert run(["lint", "--dismiss", first[:6], "0000", str(memory)]) == 2
    assert "No finding has the id “0000”" in capsys.readouterr().err
    assert findings() == [first, second]
    assert run(["lint", "--dismiss", first[:6], second, str(memory), "--reason", "mine"]) == 0
    assert capsys.readouterr().out.count("dismissed until its cause changes: ") == 2
    assert findings() == []
    assert run(["lint", "--reason", "mine"]) == 2
    assert run(["lint", "--dismiss", str(memory)]) == 2
