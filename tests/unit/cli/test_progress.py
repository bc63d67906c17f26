from __future__ import annotations

import io

import pytest

from ricordo.cli.output import show_progress
from ricordo.curation.engine import CurationProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("ricordo.cli.output.time.monotonic", lambda: now[0])
    return now


def test_one_line_shows_phase_tokens_and_seconds_and_is_cleared_at_the_end(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with show_progress() as step:
        step(CurationProgress("model reading"))
        assert terminal.getvalue() == ""
        clock[0] += 4
        step(CurationProgress("model reading"))
        step(CurationProgress("model reading"))
        assert terminal.getvalue() == "model reading, 4 s"
        step(CurationProgress("the model\x1b[2J writes", 1200))
    written = terminal.getvalue()
    assert "1,200 tokens, 4 s\r" in written
    assert "\x1b" not in written
    assert "\n" not in written
    assert written.rpartition("s\r")[2].strip(" ") == "\r"


def test_without_a_terminal_nothing_is_shown(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with show_progress() as step:
        clock[0] += 4
        step(CurationProgress("model reading"))
    assert capsys.readouterr().err == ""
