"""The man page is what the tools that format man pages expect."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ricordo.1"


def call(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a tool on the page; skip where it is missing."""
    if shutil.which(words[0]) is None:
        pytest.skip(f"not checked: no {words[0]}")
    return subprocess.run(
        [*words, str(PAGE)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"},
    )


def test_mandoc_has_nothing_to_object() -> None:
    done = call("mandoc", "-T", "lint")
    assert (done.stdout, done.returncode) == ("", 0)


def test_man_shows_it_without_a_warning() -> None:
    done = call("man", "--warnings", "-l")
    if "unrecognized option" in done.stderr or "minimized" in done.stdout:
        pytest.skip("not checked: this man formats no local page")
    assert (done.stderr, done.returncode) == ("", 0)
    # man underlines and embolds by overstriking
    text = "".join(
        char
        for number, char in enumerate(done.stdout)
        if char != "\b" and done.stdout[number + 1 : number + 2] != "\b"
    )
    for line in ("RICORDO(1)", "EXIT STATUS", "--fail-on error|warning|info|never"):
        assert line in text


def test_whatis_finds_its_name() -> None:
    assert "terminal notebook" in call("lexgrog").stdout
