"""`ricordo purge`: after it the value is nowhere, or it is told where."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.builders import note_text
from tests.unit.cli.conftest import Ricordo

VALUE = "hunter2-hunter2"


@pytest.fixture
def state(pinned: Path) -> Path:
    """Return our own state directory."""
    return pinned / ".local/state/ricordo"


def leak(memory: Path, ricordo: Ricordo) -> None:
    """Let a note of the history hold the value, and no file any more."""
    (memory / "ports.md").write_text(note_text("ports", f"The key is {VALUE}.\n"))
    ricordo("inbox")
    (memory / "ports.md").write_text(note_text("ports", "The key is gone.\n"))
    ricordo("inbox", "--keep-all")


def test_a_reader_of_the_history_lets_purge_fail_and_say_what_is_left(
    memory: Path, ricordo: Ricordo, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.disk.purge.PATIENCE", 0.1)
    leak(memory, ricordo)
    reader = sqlite3.connect(state / "history.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM blob").fetchone()
    told = ricordo("purge", given=VALUE, code=3)
    assert "Another program is reading the history" in told
    assert "1 texts, 0 reasons and paths were masked" in told
    reader.close()
    ricordo("purge", given=VALUE)
    for file in state.iterdir():
        assert VALUE.encode() not in file.read_bytes()


def test_other_encodings_and_paths_are_purged_too(
    memory: Path, ricordo: Ricordo, state: Path
) -> None:
    wide = {name: f"The key is {VALUE}.\n".encode(name) for name in ("utf-16", "utf-16-be")}
    for name, raw in wide.items():
        (memory / f"{name}.md").write_bytes(raw)
    (memory / f"{VALUE}.md").write_text("a note\n")
    ricordo("inbox", "--keep-all")
    assert f"{VALUE}.md" in ricordo("purge", given=VALUE)
    for path in (*(memory / f"{name}.md" for name in wide), memory / f"{VALUE}.md"):
        path.unlink()
    ricordo("inbox")
    assert VALUE in ricordo("history")
    assert "reasons and paths" in ricordo("purge", given=VALUE)
    assert VALUE not in ricordo("history")
    assert "all as it should be" in ricordo("history", "--verify")


def test_copies_in_our_own_state_are_named(memory: Path, ricordo: Ricordo, state: Path) -> None:
    copy = state / "editing" / "x" / "ports.md"
    copy.parent.mkdir(parents=True)
    copy.write_text(VALUE)
    aside = state / "history.db.corrupt-20260101-000000"
    aside.write_bytes(b"torn")
    told = ricordo("purge", given=VALUE)
    assert f"files of our own state; delete them:\n  {copy}\n" in told
    assert f"cannot be searched; delete them:\n  {aside}\n" in told


def test_a_purge_is_no_arrival(memory: Path, ricordo: Ricordo) -> None:
    (memory / "ports.md").write_text(note_text("ports", f"The key is {VALUE}.\n"))
    ricordo("inbox", "--keep-all")
    assert "ports.md" in ricordo("purge", given=VALUE)
    assert json.loads(ricordo("inbox", "--json"))["changes"] == []
    (memory / "ports.md").write_text(note_text("ports", "The key is gone.\n"))
    (change,) = json.loads(ricordo("inbox", "--json"))["changes"]
    assert "-The key is ████████." in change["diff"]
    assert "was purged" in ricordo("inbox", "--revert", "ports", code=3)
    assert "all as it should be" in ricordo("history", "--verify")


def test_undo_never_writes_the_mask_and_then_passes_the_act_over(
    memory: Path, ricordo: Ricordo
) -> None:
    # what is written far apart can be taken back alone
    index = (memory / "MEMORY.md").read_text()
    (memory / "MEMORY.md").write_text(index + "\n## More\n\nNothing.\n\n- [T](tides.md) — two\n")
    finding = json.loads(ricordo("lint", "--json"))["findings"][0]["id"]
    ricordo("lint", "--dismiss", finding)
    ricordo("new", "locks")
    (memory / "ports.md").write_text(note_text("ports", f"The key is {VALUE}.\n"))
    ricordo("retire", "ports", "--reason", "it is wrong")
    ricordo("purge", given=VALUE)
    told = ricordo("undo", code=3)
    assert "purged or dropped from the history. So the change of MEMORY.md, " in told
    assert "(it is wrong) cannot be undone. The next undo passes it over." in told
    assert not (memory / "ports.md").exists()
    assert (memory / "locks.md").exists()
    assert "removed locks.md" in ricordo("undo")
    assert "undone: dismissal of a finding (" in ricordo("undo")
    assert "nothing to undo" in ricordo("undo")
    assert "done again: dismissal of a finding (" in ricordo("redo")
    assert "created locks.md" in ricordo("redo")
    assert "nothing to redo" in ricordo("redo")
    assert "all as it should be" in ricordo("history", "--verify")


def test_what_cannot_be_undone_and_has_nothing_below_it_is_told_once(
    memory: Path, ricordo: Ricordo
) -> None:
    (memory / "ports.md").write_text(note_text("ports", f"The key is {VALUE}.\n"))
    ricordo("retire", "ports")
    ricordo("purge", given=VALUE)
    told = ricordo("undo", code=3)
    assert "cannot be undone." in told
    assert "passes it over" not in told
    assert "nothing to undo" in ricordo("undo")
    ricordo("new", "locks")
    assert "removed locks.md" in ricordo("undo")
