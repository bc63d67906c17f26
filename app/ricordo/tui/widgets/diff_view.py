"""A diff with a cursor that goes from hunk to hunk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from ricordo.memory.change import Edit
from ricordo.tui.color_palette import Palette
from ricordo.tui.render.diff_lines import DiffLine, diff_lines
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.render.mask import MASK
from ricordo.tui.widgets.cursor_view import CursorView

_SHORT = 48 * 1024
"""Bytes that are drawn at once: a diff of a megabyte takes a second."""
_BESIDE = "drawing"
_DRAWING: list[DiffLine] = [
    DiffLine(StyledLine((StyledSpan("  a long text is being compared …", "dim"),)))
]


class DiffView(CursorView):
    """Shows what becomes of files; hunks can be left out of it."""

    def __init__(self, palette: Palette, moved: Callable[[], None], *, id: str) -> None:
        """Empty until `show` gives it edits."""
        super().__init__(palette, moved, id=id)
        self._edits: Sequence[Edit] = ()
        self._head: Callable[[int], Sequence[StyledLine]] | None = None
        self._lines: list[DiffLine] = []
        self._side_by_side = False
        self.revealed = False
        """Whether secrets are shown: until another file is."""
        self._has_secrets = False
        self.left_out: set[tuple[int, int]] = set()
        """The hunks that the person does not want, by edit and number."""

    def show(
        self,
        edits: Sequence[Edit],
        left_out: Iterable[tuple[int, int]] = (),
        head: Callable[[int], Sequence[StyledLine]] | None = None,
    ) -> None:
        """Show other edits, from the top, with hunks that were left out before. `head` gives for a
        width what stands above them and is scrolled with them.
        """
        if [it.path for it in edits] != [it.path for it in self._edits]:
            self.revealed = False
        self._edits, self._head = edits, head
        self.left_out = set(left_out)
        if not self._is_short:
            self._lines = _DRAWING
            self.lines_changed()
        self._draw(from_the_top=True)

    def turn(self) -> None:
        """Show old and new side by side, or in one column again."""
        self._side_by_side = not self._side_by_side
        self._draw()

    @property
    def has_secrets(self) -> bool:
        """Whether there are secrets to reveal, or to mask again."""
        return self.revealed or self._has_secrets

    def reveal(self) -> None:
        """Show the secrets, or mask them again."""
        self.revealed = not self.revealed
        self._draw()

    def leave_out(self) -> bool:
        """Leave the hunk under the cursor out, or take it in again; say whether there was one."""
        hunk = self.hunk
        if hunk is None:
            return False
        self.left_out ^= {hunk}
        self._draw()
        return True

    def go_to_hunk(self) -> None:
        """Put the cursor on the first hunk behind it."""
        behind = enumerate(self._lines[self.cursor + 1 :], self.cursor + 1)
        self.rest_on(next((n for n, it in behind if it.hunk >= 0), self.cursor))

    @property
    def hunk(self) -> tuple[int, int] | None:
        """The hunk under the cursor, by edit and number."""
        if not 0 <= self.cursor < len(self._lines):
            return None
        line = self._lines[self.cursor]
        return (line.edit, line.hunk) if line.hunk >= 0 else None

    @property
    def seen_to_the_end(self) -> bool:
        """Whether the last line has been in sight at this scroll position."""
        bottom = self.scroll_offset.y + self.scrollable_content_region.height
        return bottom >= self.line_count

    @property
    def hunks(self) -> set[tuple[int, int]]:
        """All hunks, by edit and number."""
        return {(line.edit, line.hunk) for line in self._lines if line.hunk >= 0}

    @property
    def _is_short(self) -> bool:
        """Whether all of it can be drawn at once."""
        return sum(len(it.before or b"") + len(it.after or b"") for it in self._edits) <= _SHORT

    @property
    def is_drawn(self) -> bool:
        """Whether what is to be shown is on the screen."""
        return self._lines is not _DRAWING

    def _draw(self, *, from_the_top: bool = False) -> None:
        """Draw at once, or beside the screen what takes long."""
        draw = partial(
            _drawn,
            self._edits,
            self._head,
            self.content_width,
            self._side_by_side,
            frozenset(self.left_out),
            self.revealed,
        )
        if self._is_short:
            self.workers.cancel_group(self, _BESIDE)
            self._take(draw(), from_the_top=from_the_top)
        else:
            drawing = self._draw_beside(draw, from_the_top=from_the_top or not self.is_drawn)
            self.run_worker(drawing, group=_BESIDE, exclusive=True)

    async def _draw_beside(self, draw: Callable[[], list[DiffLine]], *, from_the_top: bool) -> None:
        self._take(await asyncio.to_thread(draw), from_the_top=from_the_top)
        self._moved()

    def _take(self, lines: list[DiffLine], *, from_the_top: bool) -> None:
        self._lines = lines
        self._has_secrets = any(MASK in it.line.text for it in lines)
        self.lines_changed()
        if from_the_top:
            self.jump_to(0)
        self.put_on(0 if from_the_top else max(self.cursor, 0))

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw()

    @property
    def line_count(self) -> int:
        """How many rows there are."""
        return len(self._lines)

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        """Draw one row; the cursor covers all rows of its hunk."""
        row = self._lines[number]
        here = self._lines[self.cursor] if 0 <= self.cursor < len(self._lines) else None
        under_cursor = number == self.cursor or (
            here is not None and here.hunk >= 0 and here[1:3] == row[1:3]
        )
        if not under_cursor:
            return row.line, ""
        return row.line, "cursor"

    def can_rest(self, number: int) -> bool:
        """The cursor rests where a file or a hunk begins."""
        return self._lines[number].is_first


def _drawn(
    edits: Sequence[Edit],
    head: Callable[[int], Sequence[StyledLine]] | None,
    width: int,
    side_by_side: bool,
    left_out: Collection[tuple[int, int]],
    revealed: bool,
) -> list[DiffLine]:
    above = head(width) if head else ()
    lines = [DiffLine(line, is_first=not n) for n, line in enumerate(above)]
    return lines + diff_lines(
        edits, width, side_by_side=side_by_side, left_out=left_out, revealed=revealed
    )


class MarkedDiff(DiffView):
    """A diff that can be shown with hunks that were marked before."""

    def show_marked(self, edits: Sequence[Edit], hunks: Collection[int]) -> None:
        """Show `edits` from the top, with `hunks` of the first one marked."""
        self.show(edits, {(0, hunk) for hunk in hunks})

    @property
    def marked(self) -> frozenset[int]:
        """The hunks of the first edit that are marked."""
        return frozenset(hunk for edit, hunk in self.left_out if edit == 0)

    @property
    def is_read(self) -> bool:
        """Whether the end is on the screen."""
        is_there = self.is_drawn and self.size.height > 0 and self.line_count > 0
        return is_there and self.seen_to_the_end
