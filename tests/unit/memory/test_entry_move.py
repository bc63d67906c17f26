"""Entries change places, lines never change."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.errors import ChangeRefused
from ricordo.memory.entry import find_entry_lines, lift_above_cut, move_entry
from ricordo.memory.index import EntryForm, MemoryIndex, compute_load, read_index
from ricordo.memory.memory import Memory
from tests.support.builders import note_of

TEXT = "# T\n- [A](a.md)\n  more of a\n- [B](b.md)\n\n## Part\n- [C](c.md)\n- [D](d.md)"


def index_of(text: str) -> MemoryIndex:
    return read_index(note_of(text, "MEMORY.md"))


def moved(text: str, title: str, step: int) -> tuple[str, int]:
    index = index_of(text)
    entry = next(entry for entry in index.entries if entry.title == title)
    return move_entry(index, entry, step)


def test_an_entry_takes_its_lines_with_it() -> None:
    text, line = moved(TEXT, "A", 1)
    assert text.startswith("# T\n- [B](b.md)\n- [A](a.md)\n  more of a\n\n## Part\n")
    assert line == 3
    assert moved(text, "A", -1) == (TEXT, 2)


def test_a_heading_is_a_place_of_its_own() -> None:
    text, line = moved(TEXT, "B", 1)
    assert text.endswith("\n\n## Part\n- [B](b.md)\n- [C](c.md)\n- [D](d.md)")
    assert line == 6
    assert moved(text, "B", -1) == (TEXT, 4)


def test_the_last_line_stays_without_a_line_end() -> None:
    text, line = moved(TEXT, "C", 1)
    assert text.endswith("## Part\n- [D](d.md)\n- [C](c.md)")
    assert line == 8


@pytest.mark.parametrize(("title", "step"), [("A", -1), ("D", 1)])
def test_there_is_nothing_beyond_the_ends(title: str, step: int) -> None:
    with pytest.raises(ChangeRefused, match="already the"):
        moved(TEXT, title, step)


BLOCKS = st.sampled_from(
    ["- [X](x{n}.md)", "- [X](x{n}.md)\n  more", "", "## Heading", "words", "| [X](x{n}.md) |"]
)


@given(st.lists(BLOCKS, min_size=1, max_size=9), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_no_line_is_lost_and_every_step_can_be_reversed(
    blocks: list[str], end: str, ended: bool
) -> None:
    lines = "\n".join(block.format(n=n) for n, block in enumerate(blocks))
    text = (lines + "\n" * ended).replace("\n", end)
    index = index_of(text)
    for entry in index.entries:
        if entry.form is EntryForm.PROSE:
            continue
        for step in (1, -1):
            try:
                other, line = move_entry(index, entry, step)
            except ChangeRefused:
                continue
            assert Counter(other.split(end)) == Counter(text.split(end))
            there = next(it for it in index_of(other).entries if it.line == line)
            assert there.text == entry.text
            assert len(find_entry_lines(index_of(other), there)) >= 1


def memory_with(text: str) -> Memory:
    return Memory("/memory", AUTO_MEMORY, (note_of(text, "MEMORY.md"),))


@pytest.mark.parametrize("lines", [201, 230])
def test_a_lifted_entry_is_given_whole(lines: int) -> None:
    rows = [f"- [N](n{n}.md) — {n}\n" for n in range(lines - 1)]
    memory = memory_with("".join(rows) + "- [Low](low.md)\n  its second line\n")
    assert memory.index is not None
    text, line = lift_above_cut(memory, memory.index.entries[-1])
    assert line == 199
    load = compute_load(text, AUTO_MEMORY.limits)
    assert load.text.endswith("- [Low](low.md)\n  its second line")


def test_a_long_entry_is_lifted_to_where_it_fits() -> None:
    rows = [f"- [N](n{n}.md) — {'x' * 1_000}\n" for n in range(30)]
    long = f"- [Low](low.md) — {'y' * 5_000}\n"
    memory = memory_with("".join(rows) + long)
    assert memory.index is not None
    text, _ = lift_above_cut(memory, memory.index.entries[-1])
    assert long.rstrip() in compute_load(text, AUTO_MEMORY.limits).text


def test_what_is_given_already_is_not_lifted() -> None:
    memory = memory_with(TEXT)
    assert memory.index is not None
    with pytest.raises(ChangeRefused, match="above the cut"):
        lift_above_cut(memory, memory.index.entries[0])
