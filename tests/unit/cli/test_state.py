"""What the commands do if the state cannot be written or is damaged."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from ricordo.search.usage import OPENED, UsageStore
from tests.support.builders import note_text
from tests.support.transcripts import BEGAN, Claude
from tests.unit.cli.conftest import Ricordo, contents, settle


@pytest.fixture
def state() -> Path:
    return Path(os.environ["RICORDO_STATE"])


@pytest.fixture
def read_only(memory: Path, ricordo: Ricordo, state: Path, pinned: Path) -> Iterator[Path]:
    """Return a state directory that cannot be written, with a history in which `ports.md` was
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
output = []
for words in json.loads(sys.argv[1]):
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = run(words)
    output.append((code, out.getvalue(), errors.getvalue()))
print(json.dumps(output))
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
        assert "nothing new can be recorded" in errors
    assert keep[0] == 4
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
    output = ricordo(*command)
    (aside,) = state.glob("history.db.corrupt-*")
    assert (
        f"ricordo: The history was damaged (file is not a database). It was moved to {aside},"
        in output
    )
    assert f"It was moved to {state}/activity.db.unfit" in output
    assert (state / "activity.db.unfit").exists()
    assert "moved to" not in ricordo(*command)


STATE_FILES = (
    "history.db",
    "history.db-wal",
    "history.lock",
    "lock",
    "activity.db",
    "last_seen.json",
    "ledger.jsonl",
    "model.json",
    "opinions.jsonl",
    "redaction.key",
    "recall/usage.db",
    "recall/memories.json",
    "recall/{index}.db",
    "recall/{index}.db.seal",
    "projects/{project}.db",
    "curation/{memory}.json",
    "compared/{index}.json",
    "judged/{index}.json",
)
"""What commands may open; names that are digests are in braces."""
COMMANDS = (
    "",
    "list",
    "list --short",
    "inbox",
    "lint",
    "search tide",
    "recall 'which port is nearest'",
    "curate",
    "ledger",
    "conflicts",
)
PIPE_SECONDS = 30


@pytest.mark.parametrize("file", STATE_FILES)
def test_a_pipe_among_the_state_files_is_refused_by_name(file: str, memory: Path, state: Path):
    path = state / file.format(index="0" * 16, project="1" * 16, memory="2" * 20)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    calls = [shlex.split(command) for command in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", CALLS, json.dumps(calls)],
        cwd=memory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PIPE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for command, (code, out, errors) in zip(COMMANDS, json.loads(done.stdout), strict=True):
        assert code != 0, (command, out)
        assert f"{path} is not a regular file" in errors, command
    assert path.is_fifo()


def test_links_and_foreign_folders_in_the_state_directory_are_not_touched(
    ricordo: Ricordo, state: Path, tmp_path: Path
):
    (tmp_path / "elsewhere.json").write_text("{}")
    (state / "desk.json").symlink_to(tmp_path / "elsewhere.json")
    (state / "gone.json").symlink_to(tmp_path / "gone.json")
    (state / "theirs").mkdir()
    assert "new" in ricordo("inbox")


LATE = """
import sys
from ricordo.agents.transcripts.store import TranscriptStore
from ricordo.storage.database import Database
from ricordo.storage.line_log import append_line
from ricordo.storage.lock import state_lock
from ricordo.storage.sqlite import open_read_only
from ricordo.errors import StateUnusable
from ricordo.search.usage import UsageStore
state = sys.argv[1]
try:
    {work}
except (OSError, StateUnusable) as error:
    print(error)
"""
"""Opens a state file as a notebook does that began before the file was replaced."""


@pytest.mark.parametrize(
    ("file", "work"),
    [
        ("history.db", "with Database(state).connect(): pass"),
        ("history.db-journal", "with Database(state).connect(): pass"),
        ("history.db", "open_read_only(state + '/history.db')"),
        ("ledger.jsonl", "append_line(state, 'ledger.jsonl', {})"),
        ("lock", "with state_lock(state): pass"),
        ("recall/usage.db", "UsageStore(state, '/memory').record_miss('tide')"),
        ("activity.db", "with TranscriptStore(state).open_for_writing(): pass"),
    ],
)
def test_a_file_that_became_a_pipe_meanwhile_is_refused(state: Path, file: str, work: str):
    (state / file).parent.mkdir(parents=True)
    os.mkfifo(state / file)
    done = subprocess.run(
        [sys.executable, "-c", LATE.replace("{work}", work), str(state)],
        capture_output=True,
        text=True,
        timeout=PIPE_SECONDS,
        check=False,
    )
    assert "not a regular file" in done.stdout, done.stderr


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_state_files_are_for_this_user_alone(
    ricordo: Ricordo, memory: Path, state: Path, umask: int
):
    before = os.umask(umask)
    try:
        for words in ("load", "lint --fail-on never", "search tides", "inbox", "curate"):
            ricordo(*shlex.split(words))
        ricordo("retire", "ports")
        ricordo("undo")
        UsageStore(str(state), str(memory)).record_use(b"tides.md", OPENED)
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (state, *state.rglob("*"))}
    assert {path.name for path in modes} >= {"history.db", "usage.db", "memories.json"}
    assert {oct(mode) for path, mode in modes.items() if path.is_file()} == {"0o600"}
    assert {oct(mode) for path, mode in modes.items() if path.is_dir()} == {"0o700"}


def test_a_state_file_that_others_may_read_is_closed_to_them(
    ricordo: Ricordo, memory: Path, state: Path
):
    usage = UsageStore(str(state), str(memory))
    ricordo("search", "tides")
    usage.record_use(b"tides.md", OPENED)
    for name in ("recall/usage.db", "history.db"):
        (state / name).chmod(0o644)
    usage.record_use(b"tides.md", OPENED)
    ricordo("inbox")
    for name in ("recall/usage.db", "history.db"):
        assert stat.S_IMODE((state / name).stat().st_mode) == 0o600
