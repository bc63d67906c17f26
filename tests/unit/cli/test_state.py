"""What the commands do where our own state cannot be written, or is damaged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.builders import note_text
from tests.transcripts import BEGAN, Claude
from tests.unit.cli.conftest import Ricordo, contents, settle


@pytest.fixture
def state() -> Path:
    return Path(os.environ["RICORDO_STATE"])


@pytest.fixture
def read_only(memory: Path, ricordo: Ricordo, state: Path, pinned: Path) -> Iterator[Path]:
    """Return a state directory that nobody can write, with a history in which `ports.md` was
    changed by others, and where a session that came later has read `tides.md` alone.
    """
    claude = pinned / ".claude"
    claude.mkdir()
    (claude / "settings.json").write_text(json.dumps({"autoMemoryDirectory": str(memory)}))
    (memory / "ports.md").write_text(note_text("ports", "# South\n\nSetubal.\n"))
    ricordo("inbox")
    settle(memory)
    later = Claude(began=datetime.now().astimezone() + timedelta(days=1))
    later.uses("Read", file_path=str(memory / "tides.md")).write(pinned)
    for path in (state, *state.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield state
    for path in (state, *state.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


CALLS = """
import contextlib, io, json, sys
from ricordo.cli.main import run
told = []
for words in json.loads(sys.argv[1]):
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = run(words)
    told.append((code, out.getvalue(), errors.getvalue()))
print(json.dumps(told))
"""


def without_rights(memory: Path, *calls: str) -> list[tuple[int, str, str]]:
    """Call `ricordo` again and again in a process that may not write what is read-only; return
    each exit code and what was printed.
    """
    words = [[*call.split(), "-m", str(memory)] for call in calls]
    command = [sys.executable, "-c", CALLS, json.dumps(words)]
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root, and no setpriv to give its rights up")
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return [(code, out, errors) for code, out, errors in json.loads(done.stdout)]


def test_a_state_that_cannot_be_written_is_shown_and_what_decides_something_refuses(
    read_only: Path, memory: Path
) -> None:
    before = contents(read_only)
    lint, show, inbox, history, review, keep = without_rights(
        memory,
        "lint --rule never-read --json",
        "show tides --json",
        "inbox",
        "history",
        "review",
        "inbox --keep-all",
    )
    assert [it["path"] for it in json.loads(lint[1])["findings"]] == ["ports.md"]
    assert json.loads(show[1])["versions"]
    assert "+ Setubal." in inbox[1]
    assert "seen" in history[1]
    assert "ports.md" in review[1]
    for code, _, errors in (inbox, history, review):
        assert code == 0
        assert "nothing can be kept now" in errors
    assert keep[0] == 3
    assert "Nothing was changed" in keep[2]
    assert contents(read_only) == before


@pytest.mark.parametrize("command", [("lint",), ("show", "tides"), ("review",), ("conflicts",)])
def test_that_our_own_files_were_damaged_is_told_with_where_they_lie(
    command: tuple[str, ...], memory: Path, ricordo: Ricordo, state: Path, pinned: Path
) -> None:
    Claude(began=BEGAN).uses("Read", file_path=str(memory / "tides.md")).write(pinned)
    ricordo("lint", "--fail-on", "never")
    for name in ("history.db", "activity.db"):
        for ending in ("-wal", "-shm"):
            (state / f"{name}{ending}").unlink(missing_ok=True)
        (state / name).write_bytes(b"no database at all" * 100)
    told = ricordo(*command)
    (aside,) = state.glob("history.db.corrupt-*")
    assert (
        f"ricordo: The history was damaged (file is not a database). It was moved to {aside}"
        in told
    )
    assert f"It was moved to {state}/activity.db.unfit" in told
    assert (state / "activity.db.unfit").exists()
    assert "moved to" not in ricordo(*command)
