"""A diff as lines: in one column, or old and new side by side."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice, zip_longest
from typing import NamedTuple

from ricordo.memory.change import Edit
from ricordo.memory.diff import DiffRow, build_rows, compute_line_hunks
from ricordo.memory.lines import split_lines, strip_line_end
from ricordo.memory.note import BOM
from ricordo.text import make_one_line
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, measure, span_text, wrap
from ricordo.tui.render.mask import mask_text

_WORD = re.compile(r"\w+|\s+|[^\w\s]+")
_LEAST_COMMON = 0.4
"""Least share of words that two lines must have in common, of the longer one, to mark single
words in them.
"""
_MOST = 200_000
"""Most pairs of words that are compared in one hunk; beyond it no words are marked."""

Piece = tuple[str, bool]
"""A part of a line, and whether the other line lacks it."""


def mark_changed_words(rows: Sequence[DiffRow]) -> Mapping[int, Sequence[Piece]]:
    """Return the pieces of the lines in which single words changed, by their number among the
    `rows` of one hunk.
    """
    old = [n for n, row in enumerate(rows) if row.sign == "-"]
    new = [n for n, row in enumerate(rows) if row.sign == "+"]
    pieces: dict[int, Sequence[Piece]] = {}
    pairs_left = _MOST
    for before, after in zip(old, new, strict=False):
        texts = [rows[n].text.expandtabs(4) for n in (before, after)]
        one, other = (list(islice(_WORD.findall(text), 1_000)) for text in texts)
        pairs_left -= len(one) * len(other)
        if pairs_left < 0:
            break
        if sum(map(len, texts)) != sum(map(len, (*one, *other))):
            # longer than what is compared
            continue
        removed, added = _compare(one, other)
        if _count_words(one, removed) >= _LEAST_COMMON * max(
            _count_words(one), _count_words(other)
        ):
            pieces[before], pieces[after] = _join_pieces(one, removed), _join_pieces(other, added)
    return pieces


def _compare(one: Sequence[str], other: Sequence[str]) -> tuple[set[int], set[int]]:
    removed: set[int] = set()
    added: set[int] = set()
    for hunk in compute_line_hunks(one, other):
        removed.update(range(hunk.old_start, hunk.old_start + len(hunk.old)))
        added.update(range(hunk.new_start, hunk.new_start + len(hunk.new)))
    return removed, added


def _count_words(words: Sequence[str], without: Collection[int] = ()) -> int:
    """Return the number of words that are not in `without`; blanks and signs are not counted."""
    return sum(word[0].isalnum() for n, word in enumerate(words) if n not in without)


def _join_pieces(words: Sequence[str], marked: set[int]) -> list[Piece]:
    pieces: list[Piece] = []
    for number, word in enumerate(words):
        is_marked = number in marked
        if pieces and pieces[-1][1] == is_marked:
            pieces[-1] = (pieces[-1][0] + word, is_marked)
        else:
            pieces.append((word, is_marked))
    return pieces


_NUMBER = 5
"""Cells of the column of line numbers."""
_LEFT_OUT = StyledLine((StyledSpan(f"{'':>{_NUMBER}} ⋯ left out", "warning"),))
_STYLES = {"+": "added", "-": "removed", " ": "", "@": "dim"}
_WORD_STYLES = {"+": "added bold underline", "-": "removed bold underline"}

Marks = Mapping[int, Sequence[Piece]]
"""Pieces of the lines of a hunk, by the number of their row."""


class DiffLine(NamedTuple):
    """One row of a diff view."""

    line: StyledLine
    edit: int = -1
    """Number of the edit; -1 for none."""
    hunk: int = -1
    """Number of the hunk in its edit; -1 for unchanged lines."""
    is_first: bool = False
    """Whether it is the first row of its hunk or file: the cursor stops there."""


def render_diff(
    edits: Sequence[Edit],
    width: int,
    *,
    side_by_side: bool = False,
    left_out: Collection[tuple[int, int]] = (),
    revealed: bool = False,
) -> list[DiffLine]:
    """Return the rows of `edits` in `width` cells; hunks in `left_out`, by edit and hunk number,
    are dimmed and marked as left out. Secrets are masked unless `revealed`. Where they are in
    several memories, the memory of each is named.
    """
    lines: list[DiffLine] = []
    is_in_one = len({edit.root for edit in edits}) == 1
    for number, edit in enumerate(edits):
        if number:
            lines.append(DiffLine(BLANK))
        title = _render_title(edit, "" if is_in_one else edit.root)
        lines.append(DiffLine(title, number, is_first=True))
        lines += _render_edit(number, edit, width, side_by_side, left_out, revealed)
    return lines


def _render_edit(
    number: int,
    edit: Edit,
    width: int,
    side_by_side: bool,
    left_out: Collection[tuple[int, int]],
    revealed: bool,
) -> Iterator[DiffLine]:
    texts = [_decode(raw) for raw in (edit.before, edit.after)]
    if None in texts:
        yield DiffLine(
            StyledLine((StyledSpan("  not UTF-8: the file has no hunks", "dim"),)), number
        )
        return
    old, new = (text or "" for text in texts)
    draw = _render_side_by_side if side_by_side else _render_column
    diff = build_rows(old, new) if revealed else _mask_rows(old, new)
    for hunk, group in groupby(diff, key=lambda row: row.hunk):
        style = "dim" if (number, hunk) in left_out else ""
        of_hunk = list(group)
        words = mark_changed_words(of_hunk) if hunk >= 0 and not style else {}
        notice = [_LEFT_OUT] * bool(style)
        for position, line in enumerate((*notice, *draw(of_hunk, words, width, style))):
            yield DiffLine(line, number, hunk, is_first=hunk >= 0 and position == 0)


def _mask_rows(old: str, new: str) -> Iterator[DiffRow]:
    """Yield the rows of the difference of two texts, with secrets masked."""
    before, after = (split_lines(mask_text(text)) for text in (old, new))
    for row in build_rows(old, new):
        if row.sign == "@":
            yield row
        else:
            lines = before if row.sign == "-" else after
            yield replace(row, text=strip_line_end(lines[row.number - 1]))


def _decode(raw: bytes | None) -> str | None:
    try:
        return (raw or b"").removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _render_title(edit: Edit, root: str) -> StyledLine:
    where = f" in {make_one_line(root)}" if root else ""
    if edit.moved_from_root:
        origin = os.path.join(edit.moved_from_root, edit.moved_from)
        glyph, word, style = "→", f"moved from {make_one_line(origin)}", "accent"
    elif edit.moved_from:
        glyph, word, style = "→", f"renamed, from {make_one_line(edit.moved_from)}", "accent"
    elif edit.before is None:
        glyph, word, style = "+", f"created{where}", "added"
    elif edit.after is None:
        glyph, word, style = "-", f"removed{where}", "removed"
    else:
        glyph, word, style = "~", f"changed{where}", "accent"
    name = StyledSpan(f"{glyph} {make_one_line(edit.path)}", f"{style} bold")
    return StyledLine((name, StyledSpan(f"  {word}", "dim")))


def _render_column(
    diff: Sequence[DiffRow], words: Marks, width: int, style: str
) -> Iterator[StyledLine]:
    for number, row in enumerate(diff):
        marks = (
            StyledSpan(f"{row.number:>{_NUMBER}} ", "dim"),
            StyledSpan(f"{row.sign} ", _style_of(row, style)),
        )
        if row.sign == "@":
            yield StyledLine((StyledSpan(f"{'':>{_NUMBER}} ⋯ {row.text}", "dim"),))
            continue
        yield from _wrap_row(row, words.get(number, ()), marks, width, style)


def _render_side_by_side(
    diff: Sequence[DiffRow], words: Marks, width: int, style: str
) -> Iterator[StyledLine]:
    half = (width - 1) // 2
    if diff and diff[0].hunk < 0:
        for row in diff:
            if row.sign == "@":
                yield StyledLine((StyledSpan(f"{'':>{_NUMBER}} ⋯ {row.text}", "dim"),))
                continue
            marks = (StyledSpan(f"{row.number:>{_NUMBER}}   ", "dim"),)
            for left in _wrap_row(row, (), marks, half, style):
                yield _join_sides(left, left, half)
        return
    sides = [
        [
            line
            for number, row in enumerate(diff)
            if row.sign == sign
            for line in _wrap_row(
                row,
                words.get(number, ()),
                (
                    StyledSpan(f"{row.number:>{_NUMBER}} ", "dim"),
                    StyledSpan(f"{sign} ", _style_of(row, style)),
                ),
                half,
                style,
            )
        ]
        for sign in "-+"
    ]
    for left, right in zip_longest(*sides, fillvalue=BLANK):
        yield _join_sides(left, right, half)


def _wrap_row(
    row: DiffRow, words: Sequence[Piece], marks: tuple[StyledSpan, ...], width: int, style: str
) -> Iterator[StyledLine]:
    spans = [
        StyledSpan(span_text(text), _WORD_STYLES[row.sign] if is_other else _style_of(row, style))
        for text, is_other in words or ((row.text, False),)
    ]
    if row.ending:
        spans.append(StyledSpan(f"  ({row.ending})", "dim"))
    indent = (StyledSpan(" " * measure(marks)),)
    return (StyledLine(spans) for spans in wrap(spans, width, marks, indent))


def _join_sides(left: StyledLine, right: StyledLine, half: int) -> StyledLine:
    gap = StyledSpan(" " * max(0, half - measure(left.spans)) + "│")
    return StyledLine((*left.spans, gap._replace(style="dim"), *right.spans))


def _style_of(row: DiffRow, style: str) -> str:
    return style or _STYLES[row.sign]
