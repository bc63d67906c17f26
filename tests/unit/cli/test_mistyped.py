"""A command that is mistyped is called so, and one that is near is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.cli.main import run
from tests.unit.cli.conftest import Ricordo, contents


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ("lst", "list"),
        ("retier ports", "retire"),
        ("retier ports somewhere --reason x", "retire"),
        ("--now 2026-11-20 serach tides", "search"),
        ("--debug hok prompt", "hook"),
        ("cofnig edit", "config"),
        ("undoo -m {memory}", "undo"),
    ],
)
def test_the_nearest_command_is_suggested(
    memory: Path, capsys: pytest.CaptureFixture[str], words: str, near: str
) -> None:
    before = contents(memory)
    assert run(words.format(memory=memory).split()) == 2
    output = capsys.readouterr().err
    assert "neither a command nor a path" in output
    assert f"Did you mean `ricordo {near}`?" in output
    assert contents(memory) == before


@pytest.mark.parametrize("word", ["help", "zzz", "PATH", "\x1b[31m"])
def test_a_word_that_is_near_to_nothing_gets_the_list(
    capsys: pytest.CaptureFixture[str], word: str
) -> None:
    assert run([word]) == 2
    output = capsys.readouterr().err.rstrip("\n")
    assert "neither a command nor a path" in output
    assert "Did you mean" not in output
    assert "`ricordo --help`" in output
    assert output.isprintable()


def test_a_path_that_is_there_is_opened_whatever_it_is_called(
    memory: Path, elsewhere: Path, ricordo: Ricordo, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "lst").symlink_to(memory)
    assert run(["lst"]) == 0
    assert "tides.md" in capsys.readouterr().out


def test_a_path_that_is_not_there_is_still_called_a_path(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for word in ("./lst", "some/where"):
        assert run([word]) > 1
        assert "does not exist." in capsys.readouterr().err
