"""Changing places of a file by its lines, so that an edit names what it takes away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ricordo.memory.change import EditLine
from ricordo.memory.note import Note


class Splice(NamedTuple):
    """What stands from `start` to `end` of a text becomes `new`, which holds no line end."""

    start: int
    end: int
    new: str


def line_edits(file: Note, splices: Iterable[Splice]) -> tuple[EditLine, ...]:
    """Return the acts that make the `splices`, which do not overlap, in the text of `file`.

    They go from the last line to the first, so that numbers hold; lines over which a splice
    reaches become one.
    """
    acts: list[EditLine] = []
    for begin, stop, own in _blocks(file.text, splices):
        lines = [line.removesuffix("\r") for line in file.text[begin:stop].split("\n")]
        first = file.line_of(begin)
        edits = [EditLine(file.path, first, lines[0], _spliced(file.text, begin, stop, own))]
        edits += [EditLine(file.path, first + n, line, None) for n, line in enumerate(lines) if n]
        acts += edits
    return tuple(sorted(acts, key=lambda act: -act.line))


def without_lines(file: Note, numbers: Iterable[int]) -> tuple[EditLine, ...]:
    """Return the acts that take the lines with these 1-based `numbers` out of `file`."""
    lines = plain_lines(file)
    return tuple(
        EditLine(file.path, number, lines[number - 1], None)
        for number in sorted(numbers, reverse=True)
    )


@lru_cache(maxsize=2)
def plain_lines(file: Note) -> tuple[str, ...]:
    """Return the lines of `file` without their line ends."""
    return tuple(line.removesuffix("\r") for line in file.text.split("\n"))


def _blocks(text: str, splices: Iterable[Splice]) -> Iterator[tuple[int, int, list[Splice]]]:
    """Yield the whole lines that are touched, as offsets, and what becomes other in them."""
    begin, stop, own = 0, -1, list[Splice]()
    for splice in sorted(splices):
        if splice.start > stop:
            if own:
                yield begin, stop, own
            begin, own = text.rfind("\n", 0, splice.start) + 1, []
        end = text.find("\n", splice.end)
        stop = end if end >= 0 else len(text)
        own.append(splice)
    if own:
        yield begin, stop, own


def _spliced(text: str, begin: int, stop: int, splices: Iterable[Splice]) -> str:
    parts, at = list[str](), begin
    for splice in splices:
        parts += [text[at : splice.start], splice.new]
        at = splice.end
    return "".join([*parts, text[at:stop]]).removesuffix("\r")
