"""A memory as agents leave it, and `ricordo` called on it as a person calls it."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ricordo.cli.main import run
from tests.support.builders import note_text, write_memory

INDEX = "# Memory\n\n- [Tides](tides.md) — which port\n- [Ports](ports.md) — where they are\n"

Ricordo = Callable[..., str]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Return a memory of two notes that lies as agents leave it: untouched for a while."""
    root = write_memory(
        tmp_path / "memory",
        {
            "MEMORY.md": INDEX,
            "tides.md": note_text("tides", "See [[ports]] and [the ports](ports.md#south).\n"),
            "ports.md": note_text("ports", "# South\n\nSines.\n"),
        },
    )
    settle(root)
    return root


@pytest.fixture
def ricordo(
    memory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Ricordo:
    """Return what calls `ricordo` on the memory and gives back what it printed."""

    def call(*words: str, code: int = 0, given: str | None = None) -> str:
        terminal = io.StringIO(given or "")
        monkeypatch.setattr(terminal, "isatty", lambda: given is None)
        monkeypatch.setattr("sys.stdin", terminal)
        settle(memory)
        names_memory = words[0] != "purge" and "-m" not in words
        assert run([*words, "-m", str(memory)] if names_memory else [*words]) == code
        printed = capsys.readouterr()
        return printed.out + printed.err

    call("inbox")
    return call


def settle(root: Path) -> None:
    """Let every file be an hour old, so that no command waits for its writer."""
    for path in root.rglob("*"):
        age = path.stat().st_mtime - 3600
        os.utime(path, (age, age))


def contents(root: Path) -> dict[str, bytes]:
    """Return every file of a directory."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
