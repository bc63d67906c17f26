"""The program on a pseudo-terminal: what reaches it, and how it is left."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import pytest

from tests.benchmarks.terminal import Terminal
from tests.support.curating import SESSION, user_lines
from tests.tui import hostile
from tests.tui.stage import build, editor

pytestmark = pytest.mark.terminal


class Session(Terminal):
    """A program on a terminal that keeps every byte, and tells how the program ended."""

    def __init__(self, words: list[str], cwd: Path, term: str = "xterm-256color") -> None:
        self.bytes = b""
        self.status: int | None = None
        environ = {**os.environ, "TERM": term, "COLORTERM": "truecolor"}
        super().__init__([sys.executable, *words], environ, cwd)

    def forget(self) -> None:
        self.bytes += self._raw
        super().forget()

    def press(self, keys: str) -> None:
        """Press keys one after the other, each when the one before was answered."""
        for key in keys:
            self.send(key)
            self.settle(0.03, seconds=5)
        self.forget()

    def ends_within(self, seconds: float) -> int | None:
        """Return the exit code of the program; None where it has not ended by then."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self.status = status
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        return None

    def kill(self, number: int) -> None:
        os.kill(self._pid, number)

    def end(self) -> int:
        """Wait until the program has ended; return its exit code."""
        while self._read(20):
            pass
        self.forget()
        self.status = os.waitpid(self._pid, 0)[1]
        return os.waitstatus_to_exitcode(self.status)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.status is None:
            super().__exit__(kind, error, trace)
        else:
            os.close(self._handle)


def restored(raw: bytes) -> bool:
    """Say whether the last of what was sent gives the terminal back as it was."""
    modes = (b"1049", b"1000", b"1003", b"1006", b"2004")
    off = all(raw.rfind(b"\x1b[?%sl" % mode) >= raw.rfind(b"\x1b[?%sh" % mode) for mode in modes)
    return off and raw.rfind(b"\x1b[?25h") > raw.rfind(b"\x1b[?25l")


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Session]:
    with Session(["-m", "ricordo", str(build(tmp_path))], tmp_path) as session:
        session.wait_for("watching")
        yield session


def marks_in(raw: bytes) -> set[str]:
    """Return the names of the controls whose marks were painted."""
    return {name for name in hostile.CONTROLS if f"Q{name}q".encode() in raw}


def test_no_control_of_a_note_reaches_the_terminal(tmp_path: Path) -> None:
    root = build(tmp_path, hostile.notes())
    with Session(["-m", "ricordo", str(root)], tmp_path) as session:
        session.wait_for("watching")
        session.press("2s" + "jjjj" + "s1" + "j" * 30 + "o" * 4 + "3" + "j" * 5)
        session.press("\x1b[C" + "j" * 20 + "\x1b[C\r" + "jj" + "y" + "1L" + " " + "\x1b" + "?")
        session.press("\x1b" + "1G" + "k" * 20 + "t" * 4)
        # a busy machine paints less often than a key is pressed
        until = time.monotonic() + 60
        for key in itertools.cycle("k" * 100 + "j" * 100):
            if len(marks_in(session.bytes)) > len(hostile.CONTROLS) / 2 or time.monotonic() > until:
                break
            session.press(key)
        session.press("/Q1b\r" + "2y" + "\x11")
        assert session.end() == 0
    raw = session.bytes
    assert restored(raw)
    assert len(marks_in(raw)) > len(hostile.CONTROLS) / 2
    for name, control in hostile.CONTROLS.items():
        assert f"Q{name}q{control}".encode() not in raw
        assert f"{control}p{name}P".encode() not in raw
    assert b"\x1b]0;title" not in raw
    assert b"aGVsbG8=\x07" not in raw


@pytest.mark.parametrize("words", [["{}"], ["review", "{}"], ["demo"]])
def test_a_dumb_terminal_gets_lines_and_no_screen(tmp_path: Path, words: list[str]) -> None:
    root = build(tmp_path)
    called = [word.format(root) for word in words]
    with Session(["-m", "ricordo", *called], tmp_path, "dumb") as session:
        assert session.end() == 0
    assert session.bytes.strip()
    assert b"\x1b" not in session.bytes


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_gives_the_terminal_back(ready: Session, number: signal.Signals) -> None:
    ready.kill(number)
    assert ready.end() == 128 + number
    assert restored(ready.bytes)
    after = ready.bytes.rpartition(b"\x1b[?1049l")[2]
    assert not any(char > 0x7F for char in after)
    assert b"Traceback" not in ready.bytes


def test_a_signal_ends_the_notebook_though_nobody_reads_its_terminal(ready: Session) -> None:
    # until no more of what is painted is taken
    for _ in range(100):
        ready.send("z")
        time.sleep(0.05)
    ready.kill(signal.SIGTERM)
    assert ready.ends_within(30) == 128 + signal.SIGTERM


def test_the_editor_is_given_the_terminal_and_its_interrupts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'trap \'\' INT; echo EDITOR HERE; read words; echo "$words" >> "$1"'
    monkeypatch.setenv("VISUAL", editor(tmp_path, script))
    root = build(tmp_path)
    with Session(["-m", "ricordo", str(root)], tmp_path) as session:
        session.wait_for("watching")
        session.send("e")
        session.wait_for("EDITOR HERE")
        assert restored(session.bytes + session._raw)
        session.send("\x03")
        session.send("rows on Sundays\n")
        session.wait_for("Saved.")
        session.press("\x11")
        assert session.end() == 0
    assert restored(session.bytes)
    assert (root / "user_ana.md").read_text().endswith("rows on Sundays\n")


@pytest.mark.parametrize("key", ["e", ","], ids=["a note", "the settings"])
def test_an_editor_that_cannot_be_started_gives_the_screen_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor --wait")
    root = build(tmp_path)
    with Session(["-m", "ricordo", str(root)], tmp_path) as session:
        session.wait_for("watching")
        session.send(key)
        session.wait_for("Cannot start the editor")
        session.press("?")
        session.wait_for("Move down")
        session.press("\x11")
        assert session.end() == 0
    assert restored(session.bytes)


def test_what_was_proposed_waits_after_the_program_was_killed(tmp_path: Path, pinned: Path) -> None:
    project = pinned / ".claude/projects/-home-ana-work-tidepool"
    project.mkdir(parents=True)
    root = build(tmp_path).rename(project / "memory")
    rule = "From now on write commands with uv run, not with pip."
    (project / f"{SESSION}.jsonl").write_text(user_lines("Fix the test.", rule))
    before = {it: it.read_bytes() for it in root.iterdir()}
    with Session(["-m", "ricordo", str(root)], tmp_path) as session:
        session.wait_for("watching")
        session.send("c")
        session.wait_for("messages of yours")
        session.send("\r")
        session.wait_for("nothing accepted yet")
        session.kill(signal.SIGKILL)
        assert session.end() == -signal.SIGKILL
    assert {it: it.read_bytes() for it in root.iterdir()} == before
    with Session(["-m", "ricordo", str(root)], tmp_path) as session:
        session.wait_for("proposed")
        session.send("c")
        session.wait_for("nothing accepted yet")


BREAK = """
import sys
from ricordo.{module} import {name}
def broken(*arguments):
    api_key = "hunter2-local"
    raise RuntimeError("text of a note: " + api_key)
{name}.{method} = broken
from ricordo.cli.main import run
sys.exit(run([sys.argv[1]]))
"""


@pytest.mark.parametrize(
    ("module", "name", "method"),
    [
        ("tui.dialogs.text_page", "LoadScreen", "render_text"),
        ("services.workspace.notebook", "Notebook", "judge"),
        ("tui.widgets.index_list", "IndexList", "line_at"),
    ],
)
def test_an_internal_error_is_one_line(tmp_path: Path, module: str, name: str, method: str) -> None:
    program = BREAK.format(module=module, name=name, method=method)
    with Session(["-c", program, str(build(tmp_path))], tmp_path) as session:
        session.wait_for("Ricordo", "ricordo:")
        if name == "LoadScreen":
            session.wait_for("watching")
            session.send("L")
        assert session.end() == 70
    assert restored(session.bytes)
    errors = session.bytes.rpartition(b"\x1b[?1049l")[2].decode()
    lines = [line for line in errors.splitlines() if "ricordo:" in line or "error" in line]
    assert len(lines) == 1
    assert "internal error (RuntimeError); this is a bug, please report it." in lines[0]
    assert "Nothing was changed" not in lines[0]
    assert "hunter2" not in session.bytes.decode("utf-8", "replace")
    assert "Traceback" not in errors
    kept = Path(os.environ["RICORDO_STATE"], "crash.log")
    assert str(kept) in lines[0]
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "in broken" in kept.read_text()
    assert "hunter2" not in kept.read_text()
