"""A state directory that an earlier version wrote is opened, with all that is in it.

`tests/data/state/` holds what was written there by a version before modules and classes were
renamed: history, proposals, ledger and what was known of sessions, with places for paths.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ricordo.cli.main import run

STATES = sorted((Path(__file__).parents[2] / "data" / "state").glob("*.json"))
NOW = "2026-11-20T10:00:00+00:00"

Answer = Callable[..., Any]


@pytest.fixture(params=STATES, ids=lambda path: path.stem)
def answer(
    request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Answer:
    """Unpack the memory and its state; return what calls `ricordo --json` on them."""
    kept = json.loads(request.param.read_text("utf-8"))
    memory = tmp_path / "home/.claude/projects/-work-tidepool/memory"
    state = tmp_path / "state"
    memory.mkdir(parents=True)
    (state / "curation").mkdir(parents=True, mode=0o700)
    for name, text in kept["memory"].items():
        (memory / name).write_text(text, "utf-8")
        os.utime(memory / name, (1_790_000_000, 1_790_000_000))
    (memory.parent / "s1.jsonl").write_text(kept["transcript"], "utf-8")
    status = memory.stat()
    digest = hashlib.blake2b(os.fsencode(str(memory)), digest_size=10).hexdigest()
    files = {
        f"curation/{digest}.json": kept["curation"],
        "ledger.jsonl": kept["ledger.jsonl"],
        "last_seen.json": kept["last_seen.json"],
    }

    def fill(text: str) -> str:
        places = {"BASE": tmp_path, "DEVICE": status.st_dev, "INODE": status.st_ino}
        for name, value in places.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text

    for name, text in files.items():
        (state / name).write_text(fill(text), "utf-8")
        (state / name).chmod(0o600)
    for name, database in kept["databases"].items():
        with closing(sqlite3.connect(state / name)) as connection:
            connection.executescript(fill(database["sql"]))
            connection.execute(f"PRAGMA user_version = {database['user_version']}")
            connection.execute(f"PRAGMA application_id = {database['application_id']}")
        (state / name).chmod(0o600)

    def call(*words: str, code: int = 0, as_json: bool = True) -> Any:
        places = ["--state", str(state), "--agent-home", str(tmp_path / "home"), "--now", NOW]
        options = ["--json"] if as_json else []
        assert run([*words, "-m", str(memory), *options, *places]) == code
        printed = capsys.readouterr()
        assert "unfit" not in printed.err
        return json.loads(printed.out) if as_json else printed.out

    return call


def test_its_history_is_shown_and_undone(answer: Answer) -> None:
    history = answer("history")
    kinds = [version["kind"] for version in history["versions"]]
    assert {"first", "created", "renamed", "deleted"} <= set(kinds)
    answer("undo", as_json=False)


def test_its_proposals_are_pending_and_the_refused_one_is_not(answer: Answer) -> None:
    pending = answer("pending")["changes"]
    assert len(pending) == 2
    answer("pending", "--apply", pending[0]["id"], as_json=False)
    assert [it["id"] for it in answer("pending")["changes"]] == [pending[1]["id"]]


def test_its_dismissal_is_valid(answer: Answer) -> None:
    shown = {finding["rule"] for finding in answer("lint")["findings"]}
    assert "empty-note" in shown
    assert "index-missing-file" not in shown


def test_its_ledger_counts_what_was_refused(answer: Answer) -> None:
    (curation,) = answer("ledger")["runs"]
    assert (curation["proposed"], curation["accepted"], curation["rejected"]) == (3, 0, 1)
