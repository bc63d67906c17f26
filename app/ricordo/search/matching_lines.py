"""Find the lines of a note that match a query."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ricordo.memory.note import Note
from ricordo.search.phrase import Phrase
from ricordo.search.snippet import (
    LONGEST,
    WIDTH,
    Hit,
    Places,
    cut_out,
    find_hits,
    weigh_keys,
)


class MatchingLine(NamedTuple):
    """A line of a note that matches."""

    line: int
    """1-based line of the file."""
    text: str
    """The line, or the part of it around the match."""
    marks: Places
    """Start and end of the matching words in it."""


class MatchingLines(NamedTuple):
    """The lines of a note that match."""

    shown: tuple[MatchingLine, ...]
    """The best ones, in the order of the file."""
    total: int


def find_matching_lines(
    note: Note,
    stems: Collection[str],
    parts: Collection[str] = (),
    phrases: Collection[Phrase] = (),
    most: int = 3,
) -> MatchingLines:
    """Return the lines of the body of a note that match, as in a snippet; those of its
    frontmatter if no other matches. The best have a phrase, or the most different words.
    """
    start = note.frontmatter.end
    by_line = _hits_by_line(note, start, LONGEST, stems, parts, phrases)
    if not by_line and start:
        by_line = _hits_by_line(note, 0, start, stems, parts, phrases)
    best = sorted(by_line, key=lambda number: (-_weigh(by_line[number]), number))[:most]
    rows = note.text[: start + LONGEST].split("\n") if best else []
    shown = [_build_line(number, rows[number - 1], by_line[number]) for number in sorted(best)]
    return MatchingLines(tuple(shown), len(by_line))


def _hits_by_line(
    note: Note,
    start: int,
    length: int,
    stems: Collection[str],
    parts: Collection[str],
    phrases: Collection[Phrase],
) -> dict[int, list[Hit]]:
    """Return the hits by the line of the file in which they begin, counted from its start."""
    text = note.text[start : start + length]
    by_line: dict[int, list[Hit]] = {}
    number, line_start, line_end = note.line_of(start), 0, text.find("\n")
    for left, right, key in find_hits(text, stems, parts, phrases):
        while 0 <= line_end < left:
            number, line_start = number + 1, line_end + 1
            line_end = text.find("\n", line_start)
        by_line.setdefault(number, []).append((left - line_start, right - line_start, key))
    return by_line


def _build_line(number: int, row: str, hits: Iterable[Hit]) -> MatchingLine:
    indent = len(row) - len(row.lstrip())
    flat = row.strip()
    # a phrase may go on in the next line
    ranges = [(left - indent, min(right - indent, len(flat))) for left, right, _ in hits]
    start = ranges[0][0] if len(flat) > WIDTH else 0
    return MatchingLine(number, *cut_out(flat, start, WIDTH, ranges))


def _weigh(hits: Iterable[Hit]) -> int:
    return weigh_keys(key for _, _, key in hits)
