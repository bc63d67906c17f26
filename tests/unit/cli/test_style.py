"""Colour as the user wants it, and lines wrapped to the terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.cli import style
from ricordo.cli.style import choose_color, has_color, print_styled, wrap
from ricordo.text import count_cells


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def automatic(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TERM", "xterm")
    yield
    choose_color("auto")


@pytest.mark.parametrize(
    ("choice", "environ", "terminal", "pipe"),
    [
        ("auto", {}, True, False),
        ("auto", {"NO_COLOR": "1"}, False, False),
        ("auto", {"NO_COLOR": ""}, True, False),
        ("auto", {"CLICOLOR": "0"}, False, False),
        ("auto", {"CLICOLOR": "1"}, True, False),
        ("auto", {"CLICOLOR_FORCE": "1"}, True, True),
        ("auto", {"CLICOLOR_FORCE": "0"}, True, False),
        ("auto", {"FORCE_COLOR": "1", "CLICOLOR": "0"}, True, True),
        ("auto", {"FORCE_COLOR": ""}, True, False),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ("always", {"NO_COLOR": "1"}, True, True),
        ("never", {"FORCE_COLOR": "1"}, False, False),
    ],
)
def test_the_option_wins_over_the_variables_and_these_over_the_terminal(
    choice: str, environ: Mapping[str, str], terminal: bool, pipe: bool
) -> None:
    choose_color(choice)
    assert has_color(Terminal(), environ) == terminal
    assert has_color(io.StringIO(), environ) == pipe


def test_a_dumb_terminal_gets_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert not has_color(Terminal(), {})


def test_text_of_others_gets_to_the_terminal_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    choose_color("always")
    print_styled([[("a\x1b[2Jb\nc", "error"), (" plain", "")]])
    assert capsys.readouterr().out == "\x1b[1;31ma␛[2Jb␊c\x1b[0m plain\n"


WORDS = st.lists(st.tuples(st.text("ab —✓日", max_size=12), st.sampled_from(["", "bold"])))


@given(WORDS, st.integers(style._NARROWEST, 60), st.integers(0, 14))
def test_wrapping_loses_nothing_and_fits(
    line: list[tuple[str, str]], width: int, indent: int
) -> None:
    text = "".join(part for part, _ in line)
    rows = ["".join(part for part, _ in row) for row in wrap(line, width, indent)]
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")
    assert [row for row in rows[1:] if not row.startswith(" " * indent)] == []
    longest = max((count_cells(word) for word in text.split(" ")), default=0)
    for row in rows:
        assert count_cells(row.rstrip(" ")) <= max(width, indent + longest)
