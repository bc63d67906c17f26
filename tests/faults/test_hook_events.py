"""Every hook ends with 0 and says nothing wrong, whatever is the matter with the state directory,
the project, the disk and the pipes; the process in the background survives it too.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ricordo.storage.hook_files import INDEXING, MOST_REQUESTS, RequestQueue
from ricordo.storage.lock import state_lock
from tests.support.builders import write_memory
from tests.support.forking import run_forked
from tests.unit.hook.sessions import HARBOUR, QUESTION, SECONDS, Session, begin, is_free

pytestmark = pytest.mark.faults

EVENTS: dict[str, Any] = {
    "start": {"hook_event_name": "SessionStart", "source": "resume"},
    "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": QUESTION},
    "wrote": {"hook_event_name": "PostToolUse", "tool_name": "Write"},
    "compact": {"hook_event_name": "PostCompact", "compact_summary": "We repaired the gate."},
    "stop": {"hook_event_name": "Stop", "stop_hook_active": False},
    "end": {"hook_event_name": "SessionEnd", "reason": "other"},
}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session in which every kind of state file exists."""
    made = begin(tmp_path)
    write_memory(made.home / ".config/ricordo", {"settings.toml": "[hook]\ncheck = true\n"})
    handoff = "---\nformat: ricordo handoff 1\nwritten: 2026-11-21\nfor: any\n---\n"
    write_memory(made.project, {"HANDOFF.md": handoff, "AGENTS.md": "a\n", "CLAUDE.md": "b\n"})
    made.tell_written(made.write("harbour_gate", HARBOUR))
    made.start()
    made.wait()
    (made.state / "hook/handoffs.json").write_text("{}")
    return made


def event(session: Session, name: str) -> bytes:
    arguments = {"tool_input": {"file_path": str(session.memory / "harbour_gate.md")}}
    return session.event(**EVENTS[name], **(arguments if name == "wrote" else {}))


def run_all(session: Session, redirected: str = "", **options: Any) -> None:
    """Run every hook as an agent does."""
    for name in EVENTS:
        done = subprocess.run(
            ["sh", "-c", f'exec "$0" -m ricordo hook {name} {redirected}', sys.executable],
            input=event(session, name),
            env=session.environ,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            **options,
        )
        check(name, done)


def check(name: str, done: subprocess.CompletedProcess[bytes]) -> None:
    """Check that a hook ended with 0 and wrote an answer or nothing."""
    assert (name, done.returncode, done.stderr) == (name, 0, b"")
    if done.stdout:
        json.loads(done.stdout)


def facts(session: Session) -> Path:
    (path,) = (session.state / "recall").glob("*.facts.json")
    return path


FILES: dict[str, Callable[[Session], Path]] = {
    "the lock of the queue": lambda s: s.state / "hook/index.lock",
    "the queue": lambda s: s.state / "hook/index",
    "the second queue": lambda s: s.state / "hook/check",
    "the lock of the second queue": lambda s: s.state / "hook/check.lock",
    "the session": lambda s: s.state / "hook/sessions/one.jsonl",
    "the sessions": lambda s: s.state / "hook/sessions",
    "the folder of the hooks": lambda s: s.state / "hook",
    "the verdicts on handoffs": lambda s: s.state / "hook/handoffs.json",
    "the facts": facts,
    "the catalogue": lambda s: s.state / "recall/memories.json",
    "the use of notes": lambda s: s.state / "recall/usage.db",
    "the history": lambda s: s.state / "history.db",
    "the settings": lambda s: s.home / ".config/ricordo/settings.toml",
    "the handoff": lambda s: s.project / "HANDOFF.md",
    "the instructions": lambda s: s.project / "CLAUDE.md",
    "the head of the repository": lambda s: s.project / ".git/HEAD",
}


def remove(path: Path) -> None:
    # a process in the background may be writing there
    while os.path.lexists(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def garble(path: Path) -> None:
    if path.is_dir():
        (path / "00-1.json").write_bytes(b"\xff[" * 999)
        (path / "00-2.json").write_bytes(b'{"cwd": [1], "files": 3, "event": {}}')
        (path / "00-3.json").mkdir()
    else:
        path.write_bytes(b'{"facts": 3, "named": [' + b"\xff" * 999)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a pipe": lambda path: (remove(path), os.mkfifo(path)),
    "a file": lambda path: (remove(path), path.write_bytes(b"x")),
    "a folder": lambda path: (remove(path), path.mkdir()),
    "a link": lambda path: (remove(path), path.symlink_to("/dev/zero")),
    "garbage": garble,
    "nothing": remove,
}


def damage_file(path: Path, damage: str) -> None:
    """Damage a file, again where what an earlier event left running writes it anew."""
    for _ in range(10):
        with suppress(FileExistsError):
            DAMAGES[damage](path)
            return
    raise AssertionError(f"{path} is written all the time")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_damage_to_a_file_is_noticed_by_the_agent(session: Session, damage: str):
    places = {name: find(session) for name, find in FILES.items()}
    whole = session.path / "whole"
    folders = (session.state, session.home, session.project)
    for folder in folders:
        shutil.copytree(folder, whole / folder.name, symlinks=True)
    for path in places.values():
        damage_file(path, damage)
        for name in EVENTS:
            given = event(session, name)
            check(name, run_forked("hook", name, environ=session.environ, cwd="/", given=given))
        for folder in folders:
            remove(folder)
            shutil.copytree(whole / folder.name, folder, symlinks=True, dirs_exist_ok=True)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("redirected", ["<&-", ">&-", "2>&-", ">/dev/full", "<&- >&- 2>&-"])
def test_no_closed_pipe_is_noticed_by_the_agent(session: Session, redirected: str):
    run_all(session, redirected)


def test_a_full_disk_is_not_noticed_by_the_agent(session: Session):
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    run_all(session, preexec_fn=limit)


def test_more_requests_than_are_ever_answered_take_no_more_room(session: Session):
    queue = RequestQueue(str(session.state), INDEXING)
    held = queue.lock()
    assert held is not None
    for number in range(MOST_REQUESTS + 5):
        queue.add({"event": "stop", "cwd": f"/{number}"})
    run_all(session)
    assert len(list((session.state / "hook/index").glob("*.json"))) == MOST_REQUESTS
    os.close(held)


DOCUMENTS = (
    b"",
    b"[]",
    b"17",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"cwd": 4, "session_id": [], "tool_input": "x", "agent_id": {}}',
    b'{"cwd": "\\ud800", "session_id": "../../x", "tool_input": {"file_path": "\\ud800.md"}}',
    b'{"cwd": "/a\\u0000b", "tool_input": {"file_path": "/a\\u0000b.md", "command": 3}}',
    b'{"cwd": "relative", "session_id": "\\u0000", "compact_summary": {"a": 1}}',
)


@pytest.mark.parametrize("name", EVENTS)
def test_no_document_blocks_the_agent(session: Session, name: str):
    for document in DOCUMENTS:
        assert session.hook(name, document) == {}


def test_a_session_cannot_name_a_file_elsewhere(session: Session):
    session.called("../../../evil").hook("compact", compact_summary="x")
    session.called("/tmp/evil").hook("compact", compact_summary="x")
    assert not list(session.path.rglob("evil*"))


def test_ricordo_itself_gets_no_answers(session: Session):
    for name in EVENTS:
        done = subprocess.run(
            [sys.executable, "-m", "ricordo", "hook", name],
            input=event(session, name),
            env={**session.environ, "RICORDO_CURATING": "1"},
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_no_agent_waits_for_the_background(session: Session):
    path = session.write("harbour_crane", "The crane is yellow.\n")
    with state_lock(str(session.state / "recall")):
        # it returns only when nobody holds its pipes any more
        session.tell_written(path)
        assert not is_free(session.state / "hook/index.lock")
    session.wait()
    assert "crane is yellow" in session.ask("what colour is the crane of the harbour?")
