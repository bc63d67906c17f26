"""Moving an entry within its index: whole, with the lines that belong to it. No line is written
anew, lines only change places.
"""

from __future__ import annotations

from ricordo.errors import ChangeRefused
from ricordo.memory.entry_line import lines_of_entry
from ricordo.memory.index import Entry, EntryForm, Index
from ricordo.memory.lines import bare, line_end, split_lines
from ricordo.memory.load import compute_load
from ricordo.memory.memory import Memory

Moved = tuple[str, int]
"""The text of the index, and the line, 1-based, at which the entry stands in it."""


def step_entry(index: Index, entry: Entry, step: int) -> Moved:
    """Return the index with `entry` one place further down (`step` 1) or up (-1): past its
    neighbour, or, where other text stands between them, past that text alone.

    Raises ChangeRefused where there is no further place.
    """
    own, lines = _block(index, entry), _whole_lines(index)
    other = _neighbour(index, entry, step)
    if other is None:
        raise ChangeRefused(f"This is the {'last' if step > 0 else 'first'} entry already.")
    there = lines_of_entry(index, other)
    first, second = (own, there) if step > 0 else (there, own)
    gap = range(first.stop, second.start)
    # a heading between them is a place of its own: the entry goes to its other side
    crosses = any(line.strip() for line in _cut(lines, gap))
    if step > 0:
        order = (gap, own, there) if crosses else (there, gap, own)
    else:
        order = (there, own, gap) if crosses else (own, gap, there)
    middle = [line for block in order for line in _cut(lines, block)]
    text = _joined(index, [*lines[: first.start - 1], *middle, *lines[second.stop - 1 :]])
    return text, first.start + sum(len(block) for block in order[: order.index(own)])


def lift_entry(memory: Memory, entry: Entry) -> Moved:
    """Return the first index of `memory` with `entry` above the cut: as low as it can stand so
    that an agent is given all of it.

    Raises ChangeRefused where nothing is cut off, or there is no such place.
    """
    index, cut = memory.index, memory.load.cut_at_line
    assert index is not None
    own = _block(index, entry)
    if cut is None or own.stop <= cut:
        raise ChangeRefused("Agents are given this entry already: it stands above the cut.")
    lines = _whole_lines(index)
    above = [
        other
        for other in index.entries
        if other.line < min(cut, entry.line) and other.form is entry.form
    ]
    for other in reversed(above):
        start = other.line
        rest = [*lines[start - 1 : own.start - 1], *lines[own.stop - 1 :]]
        text = _joined(index, [*lines[: start - 1], *_cut(lines, own), *rest])
        now = compute_load(text, memory.layout.limits).cut_at_line
        if now is None or now >= start + len(own):
            return text, start
    raise ChangeRefused("There is no entry above the cut before which it would fit.")


def _block(index: Index, entry: Entry) -> range:
    if entry.form is EntryForm.PROSE:
        raise ChangeRefused("This mention stands inside a sentence; e edits the index.")
    return lines_of_entry(index, entry)


def _neighbour(index: Index, entry: Entry, step: int) -> Entry | None:
    """Return the entry of the same form that stands next below (1) or above (-1)."""
    others = [
        other
        for other in index.entries
        if other.form is entry.form and (other.line - entry.line) * step > 0
    ]
    return min(others, key=lambda other: abs(other.line - entry.line), default=None)


def _cut(lines: list[str], block: range) -> list[str]:
    return lines[block.start - 1 : block.stop - 1]


def _whole_lines(index: Index) -> list[str]:
    """Return the lines of an index, the last one too with a line end."""
    text = index.note.text
    return [line if line.endswith("\n") else line + line_end(text) for line in split_lines(text)]


def _joined(index: Index, lines: list[str]) -> str:
    text = "".join(lines)
    if index.note.text.endswith("\n"):
        return text
    last = lines[-1]
    return text[: len(text) - len(last)] + bare(last)
