"""Narrowing what is listed to what is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.memory.memory import Memory
from ricordo.services.search.conditions import find_matching
from tests.support.builders import note_text, open_memory

NOTES = {
    "MEMORY.md": "- [Harbour](tide-tables.md) — of Sines\n",
    "tide-tables.md": note_text("tide-tables", "A.\n", "Which port the café's tables are for"),
    "getUserName.md": note_text("getUserName", "A.\n", "How users log in"),
    "log/day_2.md": note_text("diary", "The tide.\n", "of the day"),
}


@pytest.fixture
def memory(root: Path) -> Memory:
    return open_memory(root, NOTES)


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("tide", "tide-tables.md"),
        ("TABLES tide", "tide-tables.md"),
        ("tide-t", "tide-tables.md"),
        ("harbour port", "tide-tables.md"),
        ("cafe", "tide-tables.md"),
        ("able", "tide-tables.md"),
        ("tidetables", "tide-tables.md"),
        ("tide-tables.md", "tide-tables.md"),
        ("tide tabels", "tide-tables.md"),
        ("username", "getUserName.md"),
        ("user name", "getUserName.md"),
        ("getUser", "getUserName.md"),
        ("log/day", "log/day_2.md"),
        ("memory", "MEMORY.md"),
    ],
)
def test_a_note_fits_by_every_word(memory: Memory, typed: str, path: str) -> None:
    assert find_matching(memory, typed) == {path}


@pytest.mark.parametrize("typed", ["", " ", "!", "zzz", "port diary", "gun", "day-which", "|"])
def test_nothing_else_fits(memory: Memory, typed: str) -> None:
    assert find_matching(memory, typed) == frozenset()


def test_a_word_may_fit_many(memory: Memory) -> None:
    assert find_matching(memory, "log") == {"getUserName.md", "log/day_2.md"}


def test_a_memory_that_was_read_again_is_narrowed_again(root: Path, memory: Memory) -> None:
    assert find_matching(memory, "diary")
    (root / "log" / "day_2.md").unlink()
    assert find_matching(open_memory(root), "diary") == frozenset()
