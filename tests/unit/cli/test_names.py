"""The names that a person gives to notes on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.builders import note_text, write_memory
from tests.unit.cli.conftest import Ricordo, contents


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["rename", "tides", ""], "A note needs a name."),
        (["rename", "tides", "sub/"], "A note needs a name."),
        (["rename", "tides", "../x"], "../x is outside the memory."),
        (["rename", "tides", "sub/../../x.md"], "is outside the memory."),
        (["rename", "tides", "/tmp/x"], "/tmp/x is outside the memory."),
        (["new", ""], "A note needs a name."),
        (["new", "x", "--type", "nosuch"], "has no type “nosuch”. Types: feedback, project"),
    ],
)
def test_a_name_that_names_nothing_is_wrong_usage(
    memory: Path, ricordo: Ricordo, words: list[str], output: str
) -> None:
    before = contents(memory)
    assert output in ricordo(*words, code=2)
    assert contents(memory) == before


@pytest.mark.parametrize("name", ["../y", "..", "sub/../../y", "/etc/y", "a/.."])
def test_a_new_note_stays_in_the_memory(memory: Path, ricordo: Ricordo, name: str) -> None:
    before = contents(memory.parent)
    assert "is outside the memory" in ricordo("new", name, code=2)
    assert contents(memory.parent) == before
    ricordo("new", "CI/CD")
    assert "name: CI/CD" in (memory / "ci-cd.md").read_text()


@pytest.mark.parametrize("again", ["Tide clock", "tide clock", "tide-clock", "Tide_Clock"])
def test_a_name_is_given_once(memory: Path, ricordo: Ricordo, again: str) -> None:
    ricordo("new", "Tide clock")
    before = contents(memory)
    output = ricordo("new", again, code=4)
    assert "tide-clock.md" in output
    assert "Nothing was changed" in output
    assert "tide-clock.md" in ricordo("rename", "ports", again, code=4)
    assert contents(memory) == before
    ricordo("rename", "tide-clock", "Tide Clock")
    assert "name: Tide Clock" in "".join(it.read_text() for it in memory.iterdir())


def test_a_name_with_a_slash_is_a_path_in_the_memory(memory: Path, ricordo: Ricordo) -> None:
    write_memory(memory, {"sub/team/quays.md": note_text("quays")})
    ricordo("rename", "ports", "sub/team/moved")
    assert "name: moved" in (memory / "sub/team/moved.md").read_text()
    assert "(sub/team/moved.md)" in (memory / "MEMORY.md").read_text()
    ricordo("rename", "moved", "here")
    assert (memory / "sub/team/here.md").exists()
    ricordo("rename", "here", "./ports")
    assert (memory / "ports.md").exists()
    assert "No folder nowhere" in ricordo("rename", "ports", "nowhere/x", code=4)


def test_behind_two_dashes_a_name_may_begin_with_one(memory: Path, ricordo: Ricordo) -> None:
    write_memory(memory, {"-dash.md": note_text("-dash", "Here.\n")})
    call = ("-m", str(memory), "--", "-dash")
    assert "Here." in ricordo("show", *call)
    ricordo("rename", *call, "dash")
    assert (memory / "dash.md").exists()
    assert "no note “-none”" in ricordo("show", *call[:3], "-none", code=3)


@pytest.mark.parametrize("option", ["--version", "--debug"])
def test_behind_two_dashes_no_word_is_an_option(
    memory: Path, ricordo: Ricordo, option: str
) -> None:
    write_memory(memory, {f"{option}.md": note_text(option, "Here.\n")})
    assert "Here." in ricordo("show", "-m", str(memory), "--", option)
    output = ricordo("show", "-m", str(memory / "nowhere"), "--", option, code=3)
    assert "Traceback" not in output
    assert "Traceback" in ricordo("show", "-m", str(memory / "nowhere"), "--debug", "x", code=3)
