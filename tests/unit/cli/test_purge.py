"""`ricordo purge`: afterwards the value is nowhere, or the output says where."""

from __future__ import annotations

import io
import json
import os
import sqlite3
from pathlib import Path

import pytest

from ricordo.cli.main import run
from ricordo.search.usage import OPENED, UsageStore
from ricordo.search.words import split_words
from ricordo.storage.lock import state_lock
from tests.support.builders import note_text
from tests.unit.cli.conftest import Ricordo

VALUE = "hunter2-hunter2"


@pytest.fixture
def state(pinned: Path) -> Path:
    """Return the state directory."""
    return pinned / ".local/state/ricordo"


def leak(memory: Path, ricordo: Ricordo) -> None:
    """Let a note of the history hold the value, and no file any more."""
    (memory / "ports.md").write_text(note_text("ports", f"The key is {VALUE}.\n"))
    ricordo("inbox")
    (memory / "ports.md").write_text(note_text("ports", "The key is gone.\n"))
    ricordo("inbox", "--keep-all")


def test_purge_fails_while_the_history_is_read_and_says_what_remains(
    memory: Path, ricordo: Ricordo, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.storage.purge.PATIENCE", 0.1)
    leak(memory, ricordo)
    reader = sqlite3.connect(state / "history.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM blob").fetchone()
    output = ricordo("purge", "--yes", given=VALUE, code=4)
    assert "Another program is reading the history" in output
    assert "1 texts, 0 reasons and paths were masked" in output
    reader.close()
    ricordo("purge", "--yes", given=VALUE)
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
    assert f"{VALUE}.md" in ricordo("purge", "--yes", given=VALUE)
    for path in (*(memory / f"{name}.md" for name in wide), memory / f"{VALUE}.md"):
        path.unlink()
    ricordo("inbox")
    assert VALUE in ricordo("history")
    assert "reasons and paths" in ricordo("purge", "--yes", given=VALUE)
    assert VALUE not in ricordo("history")
    assert "no faults" in ricordo("history", "--verify")


def test_copies_in_our_own_state_are_named(memory: Path, ricordo: Ricordo, state: Path) -> None:
    copy = state / "editing" / "x" / "ports.md"
    copy.parent.mkdir(parents=True)
    copy.write_text(VALUE)
    aside = state / "history.db.corrupt-20260101-000000"
    aside.write_bytes(b"torn")
    output = ricordo("purge", "--yes", given=VALUE)
    assert f"files in the state directory still contain it; delete them:\n  {copy}\n" in output
    assert f"cannot be searched; delete them:\n  {aside}\n" in output


def test_a_purge_is_no_arrival(memory: Path, ricordo: Ricordo) -> None:
    (memory / "ports.md").write_text(note_text("ports", f"The key is {VALUE}.\n"))
    ricordo("inbox", "--keep-all")
    assert "ports.md" in ricordo("purge", "--yes", given=VALUE)
    assert json.loads(ricordo("inbox", "--json"))["changes"] == []
    (memory / "ports.md").write_text(note_text("ports", "The key is gone.\n"))
    (change,) = json.loads(ricordo("inbox", "--json"))["changes"]
    assert "-The key is ████████." in change["diff"]
    assert "was purged" in ricordo("inbox", "--revert", "ports", code=4)
    assert "no faults" in ricordo("history", "--verify")


def test_undo_never_writes_the_mask_and_then_passes_the_act_over(
    memory: Path, ricordo: Ricordo
) -> None:
    # what is written far apart can be undone alone
    index = (memory / "MEMORY.md").read_text()
    (memory / "MEMORY.md").write_text(index + "\n## More\n\nNothing.\n\n- [T](tides.md) — two\n")
    finding = json.loads(ricordo("lint", "--json"))["findings"][0]["id"]
    ricordo("lint", "--dismiss", finding)
    ricordo("new", "locks")
    (memory / "ports.md").write_text(note_text("ports", f"The key is {VALUE}.\n"))
    ricordo("retire", "ports", "--reason", "it is wrong")
    ricordo("purge", "--yes", given=VALUE)
    output = ricordo("undo", code=4)
    assert "purged or dropped from the history. So the change of MEMORY.md, " in output
    assert "(it is wrong) cannot be undone. The next undo skips it." in output
    assert not (memory / "ports.md").exists()
    assert (memory / "locks.md").exists()
    assert "removed locks.md" in ricordo("undo")
    assert "undone: dismissal of a finding (" in ricordo("undo")
    assert "Nothing to undo" in ricordo("undo")
    assert "redone: dismissal of a finding (" in ricordo("redo")
    assert "created locks.md" in ricordo("redo")
    assert "Nothing to redo" in ricordo("redo")
    assert "no faults" in ricordo("history", "--verify")


def test_a_change_that_cannot_be_undone_is_reported_once(memory: Path, ricordo: Ricordo) -> None:
    (memory / "ports.md").write_text(note_text("ports", f"The key is {VALUE}.\n"))
    ricordo("retire", "ports")
    ricordo("purge", "--yes", given=VALUE)
    output = ricordo("undo", code=4)
    assert "cannot be undone." in output
    assert "skips it" not in output
    assert "Nothing to undo" in ricordo("undo")
    ricordo("new", "locks")
    assert "removed locks.md" in ricordo("undo")


def held(state: Path, value: str) -> list[str]:
    """Return the files of a state directory that hold a value, or all its words as an index has
    them, anywhere in their bytes.
    """
    folded = [word.encode() for word in split_words(value)]
    escaped = json.dumps(value)[1:-1].encode()
    return [
        path.relative_to(state).as_posix()
        for path in sorted(state.rglob("*"))
        if path.is_file()
        for raw in [path.read_bytes()]
        if value.encode() in raw or escaped in raw or all(word in raw for word in folded)
    ]


@pytest.mark.parametrize("value", [VALUE, "Kestrel-Zündung-Ω7", "quiet walrus marmalade trombone"])
def test_a_purge_removes_the_value_from_all_files_of_ricordo(
    memory: Path, ricordo: Ricordo, state: Path, value: str
) -> None:
    text = f"The key of the harbour is {value}, for the tides of Sines.\n"
    (memory / "ports.md").write_text(note_text("ports", text))
    named = memory / f"{value}.md"
    named.write_text(note_text(value, text, description=f"what {value} opens"))
    ricordo("inbox", "--keep-all")
    ricordo("lint", "--fail-on", "never")
    ricordo("search", "harbour tides")
    usage = UsageStore(str(state), str(memory))
    usage.record_miss(" ".join(split_words(f"zanzibar {value} walrus")))
    usage.record_given(value, [os.fsencode(named.name), b"ports.md"])
    usage.record_use(os.fsencode(named.name), OPENED)
    documents = ("desk.json", "engines.json", "curation/0123456789abcdef0123.json")
    for name in documents:
        (state / name).parent.mkdir(exist_ok=True)
        (state / name).write_text(json.dumps({"/memory": {"words": [f"the {value}", 7]}}))
    (state / "compared").mkdir(exist_ok=True)
    rows = {"stamp": "x", "pairs": [["same", f"{value}.md", 1, "b.md", 2]]}
    (state / "compared" / f"{'0' * 16}.json").write_text(json.dumps(rows))
    (state / "judged").mkdir(exist_ok=True)
    verdicts = {"stamp": "x", "notes": {"0": {"verdicts": [[f"src/{value}.py", "path"]]}}}
    (state / "judged" / f"{'0' * 16}.json").write_text(json.dumps(verdicts))
    (state / "recall" / f"{'0' * 16}.db.new").write_text(f"left by a kill: {value}")
    (memory / "ports.md").write_text(note_text("ports", "The key is gone.\n"))
    named.unlink()
    assert {"recall/usage.db", "desk.json"} < set(held(state, value))
    assert any(name.startswith("recall/") and "usage" not in name for name in held(state, value))
    ricordo("inbox", "--keep-all")
    ricordo("search", "harbour tides")
    output = ricordo("purge", "--yes", given=value)
    assert "search misses, indexes and lists" in output
    assert "delete them" not in output
    assert held(state, value) == []
    for name in documents:
        (kept,) = json.loads((state / name).read_text()).values()
        assert kept["words"] == ["the ████████", 7]
    assert "The key" in ricordo("search", "key")


def test_a_purge_keeps_files_without_the_value(memory: Path, ricordo: Ricordo, state: Path) -> None:
    ricordo("search", "ports")
    usage = UsageStore(str(state), str(memory))
    usage.record_miss("zanzibar walrus")
    usage.record_use(b"ports.md", OPENED)
    before = sorted(path.name for path in state.rglob("*") if path.is_file())
    assert "search misses" not in ricordo("purge", "--yes", given="pelican-trombone-99")
    assert sorted(path.name for path in state.rglob("*") if path.is_file()) == before
    assert [words for words, _ in usage.list_misses()] == ["zanzibar walrus"]
    assert usage.count_by_user() == {b"ports.md": 1}


@pytest.mark.parametrize("damage", [b"no database at all" * 300, b""], ids=["garbage", "empty"])
def test_damaged_files_of_recall_are_no_hindrance(
    memory: Path, ricordo: Ricordo, state: Path, damage: bytes
) -> None:
    ricordo("search", "ports")
    UsageStore(str(state), str(memory)).record_miss("zanzibar")
    for path in (state / "recall").glob("*.db"):
        path.write_bytes(damage + VALUE.encode() * bool(damage))
    output = ricordo("purge", "--yes", given=VALUE)
    left = held(state, VALUE)
    assert left == (["recall/usage.db.unfit"] if damage else [])
    assert all(name in output for name in left)


def test_a_purge_that_cannot_reach_the_indexes_says_what_was_done(
    memory: Path,
    ricordo: Ricordo,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    leak(memory, ricordo)
    ricordo("search", "ports")
    monkeypatch.setattr("sys.stdin", io.StringIO(VALUE))
    monkeypatch.setattr("ricordo.search.store.PATIENCE", 0.0)
    with state_lock(str(state / "recall")):
        assert run(["purge", "--yes"]) != 0
    output = capsys.readouterr().err
    assert "is changing files" in output
    assert "The history was purged; run purge again for the rest." in output
    assert "Nothing was changed" not in output
    ricordo("purge", "--yes", given=VALUE)


def test_a_piped_value_is_purged_unasked(memory: Path, ricordo: Ricordo) -> None:
    leak(memory, ricordo)
    assert "removed from 1 texts" in ricordo("purge", given=VALUE)


@pytest.mark.parametrize(("answer", "code"), [("purge", 0), ("yes", 4), ("", 4)])
def test_a_value_entered_at_a_terminal_is_confirmed_there(
    memory: Path,
    ricordo: Ricordo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    code: int,
) -> None:
    leak(memory, ricordo)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def read(self, size: int | None = -1) -> str:
            return f"{VALUE}\n"

    monkeypatch.setattr("sys.stdin", Terminal(f"{answer}\n"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert run(["purge"]) == code
    printed = capsys.readouterr()
    assert "This overwrites 1 text in the history with this value for good" in printed.err
    assert ("removed from 1 texts" in printed.out) == (code == 0)


def test_an_index_is_built_again_unless_notes_still_hold_the_value(
    memory: Path, ricordo: Ricordo, state: Path
) -> None:
    def list_indexes() -> list[str]:
        return [path.name for path in (state / "recall").glob("*.db") if path.name != "usage.db"]

    leak(memory, ricordo)
    (memory / "ports.md").write_text(note_text("ports", f"The key is {VALUE}.\n"))
    ricordo("search", "key")
    (memory / "ports.md").write_text(note_text("ports", "The key is gone.\n"))
    told = ricordo("purge", "--yes", given=VALUE)
    assert f"rebuilt the index of {memory}" in told
    assert len(list_indexes()) == 1
    assert held(state, VALUE) == []
    (memory / "ports.md").write_text(note_text("ports", f"The key is {VALUE}.\n"))
    ricordo("search", "key")
    told = ricordo("purge", "--yes", given=VALUE)
    assert f"removed, until the next search builds them again:\n  {memory}\n" in told
    assert list_indexes() == []


def test_a_note_of_two_recorded_directories_is_named_once(memory: Path, ricordo: Ricordo) -> None:
    (memory / "deep").mkdir()
    (memory / "deep" / "MEMORY.md").write_text("# Memory\n")
    (memory / "deep" / "reefs.md").write_text(note_text("reefs", f"The key is {VALUE}.\n"))
    ricordo("inbox")
    ricordo("inbox", "-m", str(memory / "deep"))
    assert ricordo("purge", "--yes", given=VALUE).count("reefs.md") == 1
