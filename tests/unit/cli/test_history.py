"""`ricordo history` and `ricordo restore`, called as a person calls them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import note_text
from tests.unit.cli.conftest import Ricordo


def list_versions(ricordo: Ricordo, *words: str) -> list[dict[str, Any]]:
    """Return the versions that `history` lists."""
    found: list[dict[str, Any]] = json.loads(ricordo("history", *words, "--json"))["versions"]
    return found


def test_a_version_comes_back_under_the_name_that_the_note_has_now(
    memory: Path, ricordo: Ricordo
) -> None:
    first = (memory / "tides.md").read_bytes()
    ricordo("rename", "tides", "currents")
    for name in ("currents", "tides"):
        ricordo("restore", name, "--at", list_versions(ricordo, "currents")[-1]["id"])
        assert (memory / "currents.md").read_bytes() == first
        assert not (memory / "tides.md").exists()
        ricordo("undo")


def test_what_is_gone_comes_back_also_where_another_note_had_its_name(
    memory: Path, ricordo: Ricordo
) -> None:
    ricordo("rename", "tides", "currents")
    (memory / "tides.md").write_text(note_text("tides", "A second one.\n"))
    ricordo("inbox")
    (memory / "tides.md").unlink()
    ricordo("restore", "tides")
    assert "A second one." in (memory / "tides.md").read_text()


def test_a_deleted_version_brings_the_text_before_back(memory: Path, ricordo: Ricordo) -> None:
    text = (memory / "ports.md").read_bytes()
    (memory / "ports.md").unlink()
    ricordo("inbox")
    (deleted,) = (it["id"] for it in list_versions(ricordo, "ports") if it["kind"] == "deleted")
    ricordo("restore", "ports", "--at", deleted)
    assert (memory / "ports.md").read_bytes() == text
    (memory / "ports.md").write_text("another text\n")
    ricordo("restore", "ports", "--at", deleted)
    assert (memory / "ports.md").read_bytes() == text


def test_what_was_dropped_is_no_fault(memory: Path, ricordo: Ricordo) -> None:
    for text in ("Second.\n", "Third.\n"):
        (memory / "ports.md").write_text(note_text("ports", text))
        ricordo("inbox")
    later = ("--now", "2028-01-01T00:00:00+00:00")
    plan = json.loads(ricordo("history", "--older-than", "30", "--json", *later))
    assert (plan["texts"], plan["dropped"]) == (2, False)
    done = json.loads(ricordo("history", "--older-than", "30", "--drop", "--json", *later))
    assert done.items() >= {**plan, "dropped": True}.items()
    checked = json.loads(ricordo("history", "--verify", "--json"))
    assert (checked["texts"], checked["faults"]) == (plan["kept"], [])
    assert set(json.loads(ricordo("history", "--size", "--json"))) > {"bytes", "texts", "acts"}


def test_a_history_with_the_first_tables_is_migrated(ricordo: Ricordo, pinned: Path) -> None:
    before = list_versions(ricordo)
    with closing(sqlite3.connect(pinned / ".local/state/ricordo/history.db")) as connection:
        connection.executescript(
            "DROP TABLE dropped; DROP TABLE masked; ALTER TABLE head DROP COLUMN masked;"
            "DROP TABLE judgement;"
            "PRAGMA user_version = 1;"
        )
    assert list_versions(ricordo) == before
    assert "removed from 2 texts" in ricordo(
        "purge", "--yes", given="Which port the tables are for"
    )


@pytest.mark.parametrize(
    "words", [["--older-than", "99999999999"], ["--older-than", "0"], ["--drop"]]
)
def test_a_bound_that_means_nothing_is_wrong_usage(ricordo: Ricordo, words: list[str]) -> None:
    assert "--older-than" in ricordo("history", *words, code=2)


def test_undo_reverts_the_keeping_of_the_inbox_and_nothing_older(
    memory: Path, ricordo: Ricordo
) -> None:
    ricordo("inbox")
    ricordo("new", "quays", "--description", "where ships berth")
    for name in ("tides.md", "ports.md"):
        (memory / name).write_text(note_text(name[:-3], "As another program says.\n"))
    before = {path.name: path.read_bytes() for path in memory.iterdir()}
    pending = json.loads(ricordo("inbox", "--json"))["changes"]
    assert {it["path"] for it in pending} == {"tides.md", "ports.md"}
    ricordo("inbox", "--keep-all")
    assert json.loads(ricordo("inbox", "--json"))["changes"] == []
    undone = json.loads(ricordo("undo", "--json"))
    assert undone["done"] == "undone: “keep” of others' changes to ports.md, tides.md"
    assert {path.name: path.read_bytes() for path in memory.iterdir()} == before
    assert json.loads(ricordo("inbox", "--json"))["changes"] == pending
    ricordo("redo")
    assert json.loads(ricordo("inbox", "--json"))["changes"] == []
    ricordo("undo")
    # seen in a later visit, it is not shown again
    ricordo("inbox", "--keep-all")
    assert json.loads(ricordo("inbox", "--json"))["changes"] == []
    ricordo("undo")
    assert "undone: change of MEMORY.md, quays.md" in ricordo("undo")
