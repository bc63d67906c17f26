"""Edits of a file by whole lines, so that each edit names the line that it replaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ricordo.memory.change import EditLine
from ricordo.memory.note import Note


class Splice(NamedTuple):
    """Replaces `start` to `end` of a text with `new`, which contains no line end."""

    start: int
    end: int
    new: str


def build_line_edits(file: Note, splices: Iterable[Splice]) -> tuple[EditLine, ...]:
    """Return the acts that make the `splices`, which do not overlap, in the text of `file`.

    They go from the last line to the first, so that line numbers stay valid; lines that one splice
    spans become one.
    """
    acts: list[EditLine] = []
    for begin, stop, within in _group_by_lines(file.text, splices):
        lines = [line.removesuffix("\r") for line in file.text[begin:stop].split("\n")]
        first = file.line_of(begin)
        edits = [EditLine(file.path, first, lines[0], _apply(file.text, begin, stop, within))]
        edits += [EditLine(file.path, first + n, line, None) for n, line in enumerate(lines) if n]
        acts += edits
    return tuple(sorted(acts, key=lambda act: -act.line))


def remove_lines(file: Note, numbers: Iterable[int]) -> tuple[EditLine, ...]:
    """Return the acts that remove the lines with these 1-based `numbers` from `file`."""
    lines = split_plain_lines(file)
    return tuple(
        EditLine(file.path, number, lines[number - 1], None)
        for number in sorted(numbers, reverse=True)
    )


@lru_cache(maxsize=2)
def split_plain_lines(file: Note) -> tuple[str, ...]:
    """Return the lines of `file` without their line ends."""
    return tuple(line.removesuffix("\r") for line in file.text.split("\n"))


def _group_by_lines(
    text: str, splices: Iterable[Splice]
) -> Iterator[tuple[int, int, list[Splice]]]:
    """Yield the offsets of each run of changed lines, and the splices in it."""
    begin, stop, within = 0, -1, list[Splice]()
    for splice in sorted(splices):
        if splice.start > stop:
            if within:
                yield begin, stop, within
            begin, within = text.rfind("\n", 0, splice.start) + 1, []
        end = text.find("\n", splice.end)
        stop = end if end >= 0 else len(text)
        within.append(splice)
    if within:
        yield begin, stop, within


def _apply(text: str, begin: int, stop: int, splices: Iterable[Splice]) -> str:
    parts, at = list[str](), begin
    for splice in splices:
        parts += [text[at : splice.start], splice.new]
        at = splice.end
    return "".join([*parts, text[at:stop]]).removesuffix("\r")
