"""Commands where the current directory, the home, the clock or a file name is odd."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builders import note_text
from tests.unit.cli.conftest import Ricordo, contents

OWN = "internal error"
Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Return what runs `ricordo` in a process, its words after what the shell does first; an
    option of the environment that is None is unset.
    """

    def called(*words: str, first: str = ":", **environ: str | None) -> subprocess.CompletedProcess:
        known = {**os.environ, **environ}
        return subprocess.run(
            ["sh", "-c", f'{first}; exec "$@"', "sh", sys.executable, "-m", "ricordo", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={name: value for name, value in known.items() if value is not None},
            cwd=tmp_path,
            check=False,
        )

    return called


DELETED = "mkdir gone && cd gone && rmdir ../gone"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("pwd", ["", "; unset PWD"])
@pytest.mark.parametrize(
    ("words", "works"),
    [
        (("list",), True),
        (("list", "--short"), True),
        (("show", "tides", "-m", "{memory}"), True),
        (("lint", "-m", "{memory}"), True),
        (("search", "ports", "-m", "{memory}"), True),
        (("retire", "ports", "-m", "{memory}"), True),
        (("config", "path"), True),
        ((), False),
        (("load",), False),
        (("show", "tides", "-m", "../memory"), False),
        (("handoff", "-m", "{memory}"), False),
        (("resume",), False),
        (("--state", "relative", "list"), False),
    ],
)
def test_in_a_deleted_directory_what_needs_it_says_so_and_the_rest_works(
    memory: Path, call: Call, tmp_path: Path, words: tuple[str, ...], works: bool, pwd: str
) -> None:
    done = call(*(it.format(memory=memory) for it in words), first=f"{DELETED}{pwd}")
    assert (done.returncode == 0) == works, done.stderr
    assert OWN not in done.stderr
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize(
    "now", ["0001-01-01", "0001-01-01T00:00+14:00", "1969-12-31", "9999-12-31", "2026-13-01", "x"]
)
def test_a_clock_from_which_no_days_can_be_counted_is_wrong_usage(
    memory: Path, ricordo: Ricordo, now: str
) -> None:
    before = contents(memory)
    for words in (("lint",), ("review",), ("retire", "ports")):
        assert "--now" in ricordo(*words, f"--now={now}", code=2)
    assert contents(memory) == before


@pytest.mark.parametrize("now", ["1970-01-01", "8999-12-31T23:59:59+00:00"])
def test_a_clock_far_away_works(ricordo: Ricordo, now: str) -> None:
    for words in (("lint",), ("review",), ("inbox",), ("history", "--older-than", "36500")):
        assert OWN not in ricordo(*words, f"--now={now}")


def test_a_time_before_all_others_is_refused(ricordo: Ricordo) -> None:
    assert "--since" in ricordo("curate", "--dry-run", "--since", "yesterday", code=2)
    for since in ("0001-01-01T00:00+00:00", "9999-12-31T23:59+00:00"):
        assert OWN not in ricordo("curate", "--dry-run", "--since", since)


@pytest.mark.parametrize("home", ["relative", "./relative", ""])
def test_a_home_that_is_no_absolute_path_is_ignored(
    memory: Path, call: Call, tmp_path: Path, home: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    relative = {"HOME": home, "RICORDO_STATE": None}
    relative |= dict.fromkeys(("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), "relative")
    path = call("config", "path", **relative).stdout.strip()
    assert os.path.isabs(path)
    assert not path.startswith(str(tmp_path))
    # a read-only answer: the home of who runs the test is not to be written to
    call("list", "--short", **relative)
    call("show", "tides", "-m", str(memory), **relative)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_note_whose_file_name_contains_a_windows_path_is_opened(
    memory: Path, ricordo: Ricordo
) -> None:
    names = ["..\\outside\\secret.md", ".\\here.md", "a\\b.md", "sub\\..\\c.md"]
    for name in names:
        (memory / name).write_text(note_text("x", f"Text of {name}\n").replace("name: x\n", ""))
    for name in names:
        assert f"Text of {name}" in ricordo("show", name)
        assert f"Text of {name}" in ricordo("show", name.removesuffix(".md"))
    (memory / ".hidden.md").write_text("Hidden.\n")
    assert "no note" in ricordo("show", ".hidden.md", code=3)


def test_a_name_that_ends_like_a_file_is_found(memory: Path, ricordo: Ricordo) -> None:
    (memory / "plan.md").write_text(note_text("The plan of README.md", "It is here.\n"))
    assert "It is here." in ricordo("show", "The plan of README.md")


def test_in_a_locale_of_another_encoding_a_note_has_the_same_name(memory: Path, call: Call) -> None:
    (memory / "café.md").write_text(note_text("café", "Text.\n"), "utf-8")
    (memory / "MEMORY.md").write_text("- [Café](café.md) — where\n", "utf-8")
    for words in (("lint", "--json"), ("show", "café", "--json")):
        usual = call(*words, "-m", str(memory))
        other = call(*words, "-m", str(memory), LC_ALL="C", PYTHONUTF8="0")
        assert json.loads(usual.stdout) == json.loads(other.stdout)
        assert usual.returncode == other.returncode
