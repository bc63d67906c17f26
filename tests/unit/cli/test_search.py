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
    assert found.keys() >= KEYS
    assert found["path"] == "cache.md"
    assert found["why"]


@pytest.mark.parametrize("command", ["search", "recall"])
def test_nothing_found_ends_with_1(command: str, memory: str, capsys: pytest.CaptureFixture[str]):
    assert run([command, "kubernetes", memory, "--json"]) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out)["results"] == []
    assert "“kubernetes”" in printed.err


@pytest.mark.parametrize(
    ("message", "tried"),
    [
        ("tuesdey", "Nearest words in the notes: tuesdays."),
        ("ok, and then?", "Name a topic in two words."),
    ],
)
def test_recall_says_what_to_try(
    message: str, tried: str, memory: str, capsys: pytest.CaptureFixture[str]
):
    assert run(["recall", message, memory]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert tried in printed.err
    assert "ricordo search" in printed.err


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


@pytest.fixture
def harbour(root: Path) -> str:
    """Return a memory with tags, emphasis and long notes."""
    log = "".join(f"Day {day}: the buoy drifted.\n\n" for day in range(1, 6))
    notes = {
        "MEMORY.md": "- [Buoys](buoys.md)\n",
        "buoys.md": "---\nname: buoys\ndescription: Where buoys are\ntags: [sea, sea/north]\n---\n"
        f"\n# Buoys\n\nThey are **never\nmoved** in winter.\n\n{log}",
        "tides.md": "---\nname: tides\ntype: reference\ntags: sea, tables\n---\n\nHigh at noon.\n",
        "pier.md": note_text("pier", "Closed in winter. #harbour\n", "Which", "user"),
    }
    return str(write_memory(root, notes))


def found(memory: str, query: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> list[str]:
    assert run(["search", query, "-m", memory, "--json"]) == code
    return sorted(each["path"] for each in json.loads(capsys.readouterr().out)["results"])


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("tag:sea", ["buoys.md", "tides.md"]),
        ("tag:#sea", ["buoys.md", "tides.md"]),
        ("tag:sea/north", ["buoys.md"]),
        ("tag:harbour", ["pier.md"]),
        ("tag:harb", ["pier.md"]),
        ("-tag:sea", ["pier.md"]),
        ("tag:tables OR tag:harbour", ["pier.md", "tides.md"]),
        ('"never moved" OR noon', ["buoys.md", "tides.md"]),
        ("winter type:user OR type:reference", ["pier.md", "tides.md"]),
        ('"closed in winter harbour"', ["pier.md"]),
    ],
)
def test_tags_phrases_and_alternatives(
    harbour: str, query: str, paths: list[str], capsys: pytest.CaptureFixture[str]
):
    assert found(harbour, query, capsys) == paths


def test_matching_lines_are_printed_with_their_numbers(
    harbour: str, capsys: pytest.CaptureFixture[str]
):
    assert run(["search", '"never moved"', "-m", harbour]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "buoys.md  buoys",
        "    9: They are **never",
        "    matches the conditions",
    ]
    assert run(["search", "drifted", "-m", harbour, "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["line"], len(result["lines"])) == (12, 5)
    lines = (Path(harbour) / "buoys.md").read_text().split("\n")
    for each in result["lines"]:
        assert lines[each["line"] - 1] == each["text"]
    assert run(["search", "drifted", "-m", harbour]) == 0
    assert "      and 2 more lines\n" in capsys.readouterr().out


def test_a_match_in_the_description_has_its_line(harbour: str, capsys: pytest.CaptureFixture[str]):
    assert run(["search", "which", "-m", harbour]) == 0
    assert "3: description: Which" in capsys.readouterr().out


def test_that_there_is_more_is_said(harbour: str, capsys: pytest.CaptureFixture[str]):
    assert run(["search", "winter", "-m", harbour, "-n", "1"]) == 0
    assert "1 of 2 matching notes; -n N shows more." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("noon tag:harbour", "Without tag:harbour, 1 note matches."),
        ("noon -noon", "Without -noon, 1 note matches."),
        ('"never winter"', '1 note has the words of "never winter", but apart.'),
        ("noon type:user tag:tables", "Without type:user, 1 note matches."),
        ("noon type:user before:2020", "Without conditions, 1 note matches."),
        ("nothing drifftding", "Nearest words in the notes: drifted."),
        ("kubernetes", "--all searches every memory."),
    ],
)
def test_without_results_it_says_what_to_try(
    harbour: str, query: str, hint: str, capsys: pytest.CaptureFixture[str]
):
    assert run(["search", query, "-m", harbour]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"ricordo: No note matches “{query}”. ")
    assert hint in printed.err
    assert printed.err.count("\n") == 1


def test_an_unknown_tag_is_refused_with_those_that_there_are(
    harbour: str, capsys: pytest.CaptureFixture[str]
):
    assert run(["search", "winter OR tag:nosuch", "-m", harbour]) == 2
    error = capsys.readouterr().err
    assert "tag: expects sea, " in error
    assert "not “nosuch”" in error
    assert run(["search", "tag:habrour", "-m", harbour]) == 2
    assert "not “habrour”. Did you mean “harbour”?" in capsys.readouterr().err


def test_an_empty_query_is_refused(harbour: str):
    assert run(["search", "  ", "-m", harbour]) == 2
