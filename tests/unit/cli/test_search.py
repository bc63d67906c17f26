"""`ricordo search` and `ricordo recall`: what they print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ricordo.cli.main import run
from tests.support.builders import note_text, write_memory

KEYS = {"path", "name", "description", "type", "score", "why", "snippet"}


@pytest.fixture
def memory(root: Path) -> str:
    notes = {
        "MEMORY.md": "",
        "cache.md": note_text("cache", "The tide cache is SQLite since May.\n", "Where it is"),
        "deploy.md": note_text("deploy", "Releases go out on Tuesdays.\n", "How", "feedback"),
    }
    return str(write_memory(root, notes))


@pytest.mark.parametrize("command", ["search", "recall"])
def test_results_are_one_document(command: str, memory: str, capsys: pytest.CaptureFixture[str]):
    assert run([command, "tide cache sqlite", memory, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert found.keys() == KEYS
    assert found["path"] == "cache.md"
    assert found["why"]


@pytest.mark.parametrize("command", ["search", "recall"])
def test_nothing_found_ends_with_1(command: str, memory: str, capsys: pytest.CaptureFixture[str]):
    assert run([command, "kubernetes ingress", memory, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["results"] == []


def test_conditions_see_the_findings(memory: str, capsys: pytest.CaptureFixture[str]):
    assert run(["search", "is:unindexed-note type:feedback", "-m", memory]) == 0
    assert capsys.readouterr().out.startswith("deploy.md")


def test_ambient_needs_no_message(memory: str, capsys: pytest.CaptureFixture[str]):
    assert run(["recall", "--ambient", "-m", memory, "--json"]) in (0, 1)
    assert "results" in json.loads(capsys.readouterr().out)


def test_ambient_gives_nothing_of_a_memory_whose_project_is_not_known(
    memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    elsewhere = tmp_path / "tide-cache-sqlite"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run(["search", "tide cache", "-m", memory]) == 0
    capsys.readouterr()
    assert run(["recall", "--ambient", "-m", memory]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "the project of this memory, which is unknown" in printed.err


@pytest.mark.parametrize("words", [["recall"], ["recall", "x", "-n", "0"], ["search"]])
def test_words_that_do_not_fit_are_refused(words: list[str], memory: str):
    assert run([*words, "-m", memory]) == 2


def test_every_memory_is_searched_at_once(
    memory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    home = tmp_path / "agents"
    kept = home / ".claude" / "projects" / "-somewhere" / "memory"
    write_memory(kept, {"tide.md": note_text("tide", "A cache of tides.\n", "")})
    assert run(["search", "cache", "--all", "--agent-home", str(home), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert (found["memory"], found["path"]) == (str(kept), "tide.md")
    assert run(["search", "cache", "--all", "--agent-home", str(home)]) == 0
    assert capsys.readouterr().out.startswith(f"{kept}/tide.md  tide")


def test_all_memories_and_one_are_not_searched_together(memory: str):
    assert run(["search", "cache", memory, "--all"]) == 2


def test_an_invalid_condition_is_reported(memory: str, capsys: pytest.CaptureFixture[str]):
    assert run(["search", "cache after:yesterday", "-m", memory, "--json"]) == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out)["error"]["kind"] == "usage"
    assert printed.err.startswith("ricordo: after: expects 2026-05 or 2026-05-01, not “yesterday”")
    assert run(["search", "cache after:2026-02-30", "-m", memory, "--json"]) == 2
    assert "“2026-02-30” is not in the calendar" in capsys.readouterr().err


def test_a_negated_condition_may_come_first(memory: str, capsys: pytest.CaptureFixture[str]):
    assert run(["search", "-type:feedback", "-m", memory]) == 0
    assert capsys.readouterr().out.startswith("cache.md")
    assert run(["search", "-is:bogus", "-m", memory]) == 2
    assert "is: expects" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("query", "gaps"),
    [
        ("kubernetes type:feedback -ingress after:2026", ["kubernetes"]),
        ("type:nosuch -cache", []),
        ('"kubernetes ingress"', []),
        ("kubernetes after:yesterday", []),
    ],
)
def test_a_search_miss_has_the_searched_words(
    query: str, gaps: list[str], memory: str, capsys: pytest.CaptureFixture[str]
):
    assert run(["search", query, "-m", memory]) in (1, 2)
    capsys.readouterr()
    assert run(["usage", "-m", memory, "--json"]) == 0
    assert [gap["words"] for gap in json.loads(capsys.readouterr().out)["gaps"]] == gaps
