"""`ricordo conflicts`: what it prints, and what settling does to the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ricordo.cli.main import run
from tests.support.builders import note_text, write_memory
from tests.unit.cli.conftest import Ricordo

OLD, NEW = "The web view listens on port 8040.\n", "The web view listens on port 8100.\n"


def dated(name: str, body: str, day: str) -> str:
    return note_text(name, body).replace("  type:", f"  modified: {day}\n  type:")


@pytest.fixture
def memory(root: Path) -> Path:
    notes = {
        "MEMORY.md": "- [Server](server.md) — where\n- [Web](web.md) — which port\n",
        "server.md": dated("server", OLD, "2026-01-02"),
        "web.md": dated("web", NEW, "2026-03-04"),
        "lamp.md": note_text("lamp", "Lamps: [[server]].\n"),
    }
    return write_memory(root, notes)


def listed(memory: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    code = run(["conflicts", str(memory), "--json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["conflicts"]
    assert code == bool(found)
    return found


def settle(memory: Path, conflict: dict[str, Any], keep: str) -> int:
    return run(["conflicts", str(memory), "--resolve", conflict["id"], "--keep", keep])


def test_a_conflict_is_printed_as_the_contract_says(
    memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = listed(memory, capsys)
    assert found.keys() == {"id", "left", "right", "reason", "suggestion"}
    assert found["left"] == {"path": "server.md", "line": 10, "claim": OLD.strip()}
    assert found["right"]["path"] == "web.md"
    assert found["reason"] == "numbers: 8040 / 8100"
    assert found["suggestion"].startswith("keep right: it is newer")
    assert run(["conflicts", str(memory)]) == 1
    assert found["id"] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("keep", "stays", "goes"), [("left", "server", "web"), ("right", "web", "server")]
)
def test_the_other_note_is_retired_and_comes_back(
    memory: Path, capsys: pytest.CaptureFixture[str], keep: str, stays: str, goes: str
) -> None:
    before = {it.name: it.read_bytes() for it in memory.iterdir()}
    (found,) = listed(memory, capsys)
    assert settle(memory, found, keep) == 0
    assert not (memory / f"{goes}.md").exists()
    assert f"{goes}.md" not in (memory / "MEMORY.md").read_text("utf-8")
    assert f"[[{stays}]]" in (memory / "lamp.md").read_text("utf-8")
    assert listed(memory, capsys) == []
    assert run(["undo", str(memory)]) == 0
    assert {it.name: it.read_bytes() for it in memory.iterdir()} == before
    assert listed(memory, capsys) == [found]


def test_no_conflict_is_remembered_until_the_text_changes(
    memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = listed(memory, capsys)
    assert settle(memory, found, "none") == 0
    assert listed(memory, capsys) == []
    lamp = memory / "lamp.md"
    lamp.write_text(lamp.read_text("utf-8") + "More.\n", "utf-8")
    assert listed(memory, capsys) == []
    web = memory / "web.md"
    web.write_text(web.read_text("utf-8").replace("8100", "8200"), "utf-8")
    (again,) = listed(memory, capsys)
    assert again["id"] != found["id"]


def test_what_was_compared_once_is_not_compared_again(
    memory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = listed(memory, capsys)

    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("ricordo.lint.contradictions.comparer.NoteComparer.pairs", fail)
    assert listed(memory, capsys) == found


def test_the_stored_reads_have_no_text_and_damage_is_harmless(
    memory: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("RICORDO_STATE", str(tmp_path / "own-state"))
    found = listed(memory, capsys)
    (kept,) = (tmp_path / "own-state" / "compared").iterdir()
    text = kept.read_text("utf-8")
    assert "listens" not in text
    assert "port 8040" not in text
    for damaged in (text[:-3], "[]", text.replace("server.md", "gone.md"), text.replace("1", "99")):
        kept.write_text(damaged, "utf-8")
        assert listed(memory, capsys) == found


def test_the_finder_knows_both_notes(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "has:conflict", str(memory), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    assert {it["path"] for it in found} == {"server.md", "web.md"}


@pytest.mark.parametrize(
    "words", [["--resolve", "x"], ["--keep", "left"], ["--resolve", "none", "--keep", "left"]]
)
def test_words_that_do_not_fit_are_refused(memory: Path, words: list[str]) -> None:
    assert run(["conflicts", str(memory), *words]) == 2


def test_claims_are_checked_against_the_project_that_is_named(
    memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "The settings live in `conf/{}.toml`.\n"
    (memory / "server.md").write_text(dated("server", said.format("old"), "2026-01-02"), "utf-8")
    (memory / "web.md").write_text(dated("web", said.format("new"), "2026-03-04"), "utf-8")
    (tmp_path / "project/conf").mkdir(parents=True)
    (tmp_path / "project/conf/old.toml").write_text("", "utf-8")
    words = ["conflicts", str(memory), "--project", str(tmp_path / "project")]
    capsys.readouterr()
    assert run(words) == 1
    assert "keep left: the project has conf/old.toml" in capsys.readouterr().out
    assert run([*words[:-1], str(tmp_path / "nowhere")]) == 2


def test_a_pair_that_is_no_conflict_stays_away_under_another_name(
    memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = listed(memory, capsys)
    assert settle(memory, found, "none") == 0
    assert run(["rename", "server", "zeppelin", "-m", str(memory)]) == 0
    assert listed(memory, capsys) == []


def test_what_still_claims_what_was_given_up_is_printed(
    memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    web = memory / "web.md"
    web.write_text(web.read_text("utf-8") + "\nThe bookmark says port 8100.\n", "utf-8")
    (found,) = listed(memory, capsys)
    assert settle(memory, found, "left") == 0
    assert "still says “8100”" in capsys.readouterr().out


@pytest.fixture
def two_conflicts(memory: Path) -> Path:
    """Return a memory with two conflicts that have nothing in common."""
    for name, feet, day in (("crane", 40, "2026-01-02"), ("derrick", 60, "2026-03-04")):
        body = f"The harbour crane lifts {feet} tonnes.\n"
        (memory / f"{name}.md").write_text(dated(name, body, day), "utf-8")
    return memory


def test_several_conflicts_are_resolved_by_abbreviated_ids(
    two_conflicts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = listed(two_conflicts, capsys)
    assert len(found) == 2
    ids = [conflict["id"][:5] for conflict in found]
    words = ["conflicts", "--resolve", *ids, str(two_conflicts), "--keep", "right"]
    assert run([*words, "--reason", "measured again", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    deleted = {it["path"] for it in document["changed"] if it["kind"] == "deleted"}
    assert deleted == {"server.md", "crane.md"}
    assert listed(two_conflicts, capsys) == []
    assert run(["history", "-m", str(two_conflicts)]) == 0
    assert run(["history", "server", "-m", str(two_conflicts), "--json"]) == 0
    reasons = [
        it["reason"] for it in json.loads(capsys.readouterr().out.splitlines()[-1])["versions"]
    ]
    assert any(reason.endswith("measured again") for reason in reasons)


def test_several_pairs_are_no_conflicts(
    two_conflicts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [conflict["id"] for conflict in listed(two_conflicts, capsys)]
    words = ["conflicts", "-m", str(two_conflicts), "--resolve", *ids, "--keep", "none"]
    assert run([*words, "--reason", "two cranes"]) == 0
    assert listed(two_conflicts, capsys) == []


def test_no_conflict_is_resolved_where_one_id_is_unknown(
    two_conflicts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = listed(two_conflicts, capsys)
    words = ["conflicts", "-m", str(two_conflicts), "--keep", "none", "--resolve"]
    for unknown in ("0000", "x", found[0]["id"][:2]):
        assert run([*words, found[0]["id"], unknown]) == 2
        assert "No conflict has the id" in capsys.readouterr().err
    assert run(["conflicts", "-m", str(two_conflicts), "--reason", "x"]) == 2
    assert listed(two_conflicts, capsys) == found


def test_where_there_is_no_conflict_it_is_said_what_finds_more(
    memory: Path, ricordo: Ricordo
) -> None:
    assert "`ricordo curate --check`" not in ricordo("conflicts", code=1)
    (memory / "web.md").unlink()
    assert "`ricordo curate --check`" in ricordo("conflicts")
