"""A diff as lines of a view: one column, or old and new side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest
from typing import NamedTuple

from ricordo.memory.change_set import Edit
from ricordo.memory.diff import Row, rows
from ricordo.memory.lines import bare, split_lines
from ricordo.memory.note import BOM
from ricordo.text import one_line
from ricordo.tui.render.line import BLANK, Line, Span, shown, width_of, wrap
from ricordo.tui.render.mask import masked
from ricordo.tui.render.word_marks import Piece, marked_words

_NUMBER = 5
"""Cells of the column of line numbers."""
_LEFT_OUT = Line((Span(f"{'':>{_NUMBER}} ⋯ left out", "warning"),))
_STYLES = {"+": "added", "-": "removed", " ": "", "@": "dim"}
_WORD_STYLES = {"+": "added bold underline", "-": "removed bold underline"}

Marks = Mapping[int, Sequence[Piece]]
"""Pieces of the lines of a hunk, by the number of their row."""


class DiffLine(NamedTuple):
    """One row of a diff view."""

    line: Line
    edit: int = -1
    """Which of the edits it belongs to; -1 for none."""
    hunk: int = -1
    """Which hunk of that edit; -1 for what stays."""
    is_first: bool = False
    """Whether it is the first row of its hunk, or of its file where that is all one piece."""


def diff_lines(
    edits: Sequence[Edit],
    width: int,
    *,
    side_by_side: bool = False,
    left_out: Collection[tuple[int, int]] = (),
    revealed: bool = False,
) -> list[DiffLine]:
    """Return the rows that show `edits` in `width` cells; hunks that are `left_out`, by edit and
    number, are dimmed and begin with a row that says so. Secrets are masked, if not `revealed`.
    """
    lines: list[DiffLine] = []
    for number, edit in enumerate(edits):
        if number:
            lines.append(DiffLine(BLANK))
        lines.append(DiffLine(_title(edit), number, is_first=True))
        lines += _edit_lines(number, edit, width, side_by_side, left_out, revealed)
    return lines


def _edit_lines(
    number: int,
    edit: Edit,
    width: int,
    side_by_side: bool,
    left_out: Collection[tuple[int, int]],
    revealed: bool,
) -> Iterator[DiffLine]:
    texts = [_text(raw) for raw in (edit.before, edit.after)]
    if None in texts:
        yield DiffLine(Line((Span("  not UTF-8: it is taken or left whole", "dim"),)), number)
        return
    old, new = (text or "" for text in texts)
    draw = _side_by_side if side_by_side else _in_one_column
    found = rows(old, new) if revealed else _masked_rows(old, new)
    for hunk, group in groupby(found, key=lambda row: row.hunk):
        style = "dim" if (number, hunk) in left_out else ""
        of_hunk = list(group)
        words = marked_words(of_hunk) if hunk >= 0 and not style else {}
        said = [_LEFT_OUT] * bool(style)
        for position, line in enumerate((*said, *draw(of_hunk, words, width, style))):
            yield DiffLine(line, number, hunk, is_first=hunk >= 0 and position == 0)


def _masked_rows(old: str, new: str) -> Iterator[Row]:
    """The rows of the difference: found in the texts as they are, shown with secrets masked."""
    before, after = (split_lines(masked(text)) for text in (old, new))
    for row in rows(old, new):
        if row.sign == "@":
            yield row
        else:
            lines = before if row.sign == "-" else after
            yield replace(row, text=bare(lines[row.number - 1]))


def _text(raw: bytes | None) -> str | None:
    try:
        return (raw or b"").removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _title(edit: Edit) -> Line:
    if edit.moved_from:
        glyph, word, style = "→", f"renamed, from {one_line(edit.moved_from)}", "accent"
    elif edit.before is None:
        glyph, word, style = "+", "created", "added"
    elif edit.after is None:
        glyph, word, style = "-", "removed", "removed"
    else:
        glyph, word, style = "~", "changed", "accent"
    name = Span(f"{glyph} {one_line(edit.path)}", f"{style} bold")
    return Line((name, Span(f"  {word}", "dim")))


def _in_one_column(found: Sequence[Row], words: Marks, width: int, style: str) -> Iterator[Line]:
    for number, row in enumerate(found):
        marks = (Span(f"{row.number:>{_NUMBER}} ", "dim"), Span(f"{row.sign} ", _style(row, style)))
        if row.sign == "@":
            yield Line((Span(f"{'':>{_NUMBER}} ⋯ {row.text}", "dim"),))
            continue
        yield from _wrapped(row, words.get(number, ()), marks, width, style)


def _side_by_side(found: Sequence[Row], words: Marks, width: int, style: str) -> Iterator[Line]:
    half = (width - 1) // 2
    if found and found[0].hunk < 0:
        for row in found:
            if row.sign == "@":
                yield Line((Span(f"{'':>{_NUMBER}} ⋯ {row.text}", "dim"),))
                continue
            marks = (Span(f"{row.number:>{_NUMBER}}   ", "dim"),)
            for left in _wrapped(row, (), marks, half, style):
                yield _beside(left, left, half)
        return
    sides = [
        [
            line
            for number, row in enumerate(found)
            if row.sign == sign
            for line in _wrapped(
                row,
                words.get(number, ()),
                (Span(f"{row.number:>{_NUMBER}} ", "dim"), Span(f"{sign} ", _style(row, style))),
                half,
                style,
            )
        ]
        for sign in "-+"
    ]
    for left, right in zip_longest(*sides, fillvalue=BLANK):
        yield _beside(left, right, half)


def _wrapped(
    row: Row, words: Sequence[Piece], marks: tuple[Span, ...], width: int, style: str
) -> Iterator[Line]:
    spans = [
        Span(shown(text), _WORD_STYLES[row.sign] if is_other else _style(row, style))
        for text, is_other in words or ((row.text, False),)
    ]
    if row.ending:
        spans.append(Span(f"  ({row.ending})", "dim"))
    indent = (Span(" " * width_of(marks)),)
    return (Line(spans) for spans in wrap(spans, width, marks, indent))


def _beside(left: Line, right: Line, half: int) -> Line:
    gap = Span(" " * max(0, half - width_of(left.spans)) + "│")
    return Line((*left.spans, gap._replace(style="dim"), *right.spans))


def _style(row: Row, style: str) -> str:
    return style or _STYLES[row.sign]
