"""A diff with a cursor that moves from hunk to hunk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import islice, takewhile

from ricordo.memory.change import Edit
from ricordo.tui.color_palette import Palette
from ricordo.tui.render.diff_lines import DiffLine, render_diff
from ricordo.tui.render.line import MEASURE, StyledLine, StyledSpan
from ricordo.tui.render.mask import MASK
from ricordo.tui.widgets.line_view import CursorView
from ricordo.tui.workers import start_worker

_SHORT = 48 * 1024
"""Bytes that are drawn at once: a diff of a megabyte takes a second."""
_FIRST_ROWS = 3
"""Rows of the first hunk that are in sight before the user moves."""
_DRAWING_GROUP = "drawing"
_DRAWING: list[DiffLine] = [
    DiffLine(StyledLine((StyledSpan("  a long text is being compared …", "dim"),)))
]


class DiffView(CursorView):
    """Shows edits as a diff; hunks can be left out."""

    def __init__(self, palette: Palette, moved: Callable[[], None], *, id: str) -> None:
        super().__init__(palette, moved, id=id)
        self._edits: Sequence[Edit] = ()
        self._head: Callable[[int], Sequence[StyledLine]] | None = None
        self._lines: list[DiffLine] = []
        self._side_by_side = False
        self.is_revealed = False
        """Whether secrets are shown; reset with another file."""
        self._has_secrets = False
        self.left_out: set[tuple[int, int]] = set()
        """The hunks that the user left out, by edit and hunk number."""

    def show_edits(
        self,
        edits: Sequence[Edit],
        left_out: Iterable[tuple[int, int]] = (),
        head: Callable[[int], Sequence[StyledLine]] | None = None,
    ) -> None:
        """Show other edits from the top, with the hunks that were left out before; from the first
        hunk if that is out of sight there. `head` returns for a width the lines above the edits,
        which scroll with them and come first.
        """
        if [edit.path for edit in edits] != [edit.path for edit in self._edits]:
            self.is_revealed = False
        self._edits, self._head = edits, head
        self.left_out = set(left_out)
        if not self._is_short:
            self._lines = _DRAWING
            self.lines_changed()
        self._draw(from_the_top=True)

    def toggle_columns(self) -> None:
        """Switch between side by side and one column."""
        self._side_by_side = not self._side_by_side
        self._draw()

    @property
    def has_secrets(self) -> bool:
        """Return whether there are secrets to reveal or to mask again."""
        return self.is_revealed or self._has_secrets

    def toggle_reveal(self) -> None:
        """Show the secrets, or mask them again."""
        self.is_revealed = not self.is_revealed
        self._draw()

    def toggle_hunk(self) -> bool:
        """Leave out or include the hunk under the cursor; return whether there is one."""
        hunk = self.hunk
        if hunk is None:
            return False
        self.left_out ^= {hunk}
        self._draw()
        return True

    def go_to_hunk(self) -> None:
        """Move the cursor to the next hunk."""
        rows_after = enumerate(self._lines[self.cursor + 1 :], self.cursor + 1)
        self.move_to(next((n for n, line in rows_after if line.hunk >= 0), self.cursor))

    @property
    def hunk(self) -> tuple[int, int] | None:
        """Return the edit and hunk number under the cursor; None without a hunk."""
        if not 0 <= self.cursor < len(self._lines):
            return None
        line = self._lines[self.cursor]
        return (line.edit, line.hunk) if line.hunk >= 0 else None

    @property
    def is_end_in_sight(self) -> bool:
        """Return whether the last line is in sight."""
        bottom = self.scroll_offset.y + self.scrollable_content_region.height
        return bottom >= self.line_count

    @property
    def hunks(self) -> set[tuple[int, int]]:
        """Return all hunks, by edit and hunk number."""
        return {(line.edit, line.hunk) for line in self._lines if line.hunk >= 0}

    @property
    def has_hunks(self) -> bool:
        """Return whether there is a hunk."""
        return any(line.hunk >= 0 for line in self._lines)

    @property
    def _is_short(self) -> bool:
        """Return whether the diff is short enough to draw at once."""
        return (
            sum(len(edit.before or b"") + len(edit.after or b"") for edit in self._edits) <= _SHORT
        )

    @property
    def is_drawn(self) -> bool:
        """Return whether the diff is on the screen."""
        return self._lines is not _DRAWING

    def _draw(self, *, from_the_top: bool = False) -> None:
        """Draw a short diff at once, a long one in a thread."""
        draw = partial(
            _render_diff,
            self._edits,
            self._head,
            self.content_width,
            self._side_by_side,
            frozenset(self.left_out),
            self.is_revealed,
        )
        if self._is_short:
            self.workers.cancel_group(self, _DRAWING_GROUP)
            self._show_lines(draw(), from_the_top=from_the_top)
        else:
            is_other = from_the_top or not self.is_drawn
            draw_later = partial(self._draw_in_thread, draw, from_the_top=is_other)
            start_worker(self, draw_later, group=_DRAWING_GROUP, exclusive=True)

    async def _draw_in_thread(
        self, draw: Callable[[], list[DiffLine]], *, from_the_top: bool
    ) -> None:
        self._show_lines(await asyncio.to_thread(draw), from_the_top=from_the_top)
        self._moved()

    def _show_lines(self, lines: list[DiffLine], *, from_the_top: bool) -> None:
        self._lines = lines
        self._has_secrets = any(MASK in line.line.text for line in lines)
        self.lines_changed()
        if from_the_top:
            self.jump_to(0)
        self.set_cursor(0 if from_the_top else max(self.cursor, 0))
        if from_the_top and self._head is None:
            self.hold(self._first_hunk)

    @property
    def _first_hunk(self) -> range:
        """Return the first rows of the first hunk; empty without one."""
        hunks = [(line.edit, line.hunk) if line.hunk >= 0 else None for line in self._lines]
        first = next((n for n, hunk in enumerate(hunks) if hunk), 0)
        rows = takewhile(lambda n: hunks[n] == hunks[first], range(first, len(hunks)))
        return (
            range(first, first + len(list(islice(rows, _FIRST_ROWS)))) if any(hunks) else range(0)
        )

    def on_resize(self) -> None:
        self._draw()
        if self._held and self.cursor == self._nearest(0):
            self.hold(self._first_hunk)

    @property
    def line_count(self) -> int:
        return len(self._lines)

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        row = self._lines[number]
        here = self._lines[self.cursor] if 0 <= self.cursor < len(self._lines) else None
        under_cursor = number == self.cursor or (
            here is not None and here.hunk >= 0 and here[1:3] == row[1:3]
        )
        return row.line, "cursor" if under_cursor else ""

    def can_stop(self, number: int) -> bool:
        return self._lines[number].is_first


def _render_diff(
    edits: Sequence[Edit],
    head: Callable[[int], Sequence[StyledLine]] | None,
    width: int,
    side_by_side: bool,
    left_out: Collection[tuple[int, int]],
    revealed: bool,
) -> list[DiffLine]:
    above = head(min(width, MEASURE)) if head else ()
    lines = [DiffLine(line, is_first=not n) for n, line in enumerate(above)]
    return lines + render_diff(
        edits, width, side_by_side=side_by_side, left_out=left_out, revealed=revealed
    )


class MarkedDiff(DiffView):
    """A diff that can be shown with marked hunks."""

    def show_marked(self, edits: Sequence[Edit], hunks: Collection[int]) -> None:
        """Show `edits` from the top, with `hunks` of the first one marked."""
        self.show_edits(edits, {(0, hunk) for hunk in hunks})

    @property
    def marked(self) -> frozenset[int]:
        """Return the marked hunks of the first edit."""
        return frozenset(hunk for edit, hunk in self.left_out if edit == 0)

    @property
    def is_read_to_end(self) -> bool:
        """Return whether the diff is drawn and its end is in sight."""
        is_there = self.is_drawn and self.size.height > 0 and self.line_count > 0
        return is_there and self.is_end_in_sight
