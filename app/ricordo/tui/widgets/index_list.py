"""The index pane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.events import Click
from textual.message import Message

from ricordo.tui.color_palette import Palette
from ricordo.tui.render.empty import render_paragraphs
from ricordo.tui.render.index_rows import IndexRow, RowKind, draw_index_row
from ricordo.tui.render.line import StyledLine
from ricordo.tui.widgets.line_view import CursorView

Paragraphs = Sequence[tuple[str, str]]
"""Texts with their styles."""


class IndexList(CursorView):
    """Lists the notes in the order of the index or another; draws only the rows in sight."""

    class Opened(Message):
        """The row under the cursor was opened."""

    def __init__(self, palette: Palette, moved: Callable[[], None], *, id: str) -> None:
        super().__init__(palette, moved, id=id)
        self._rows: tuple[IndexRow, ...] = ()
        self._changed: frozenset[str] = frozenset()
        self._chosen: frozenset[str] = frozenset()
        self._instead: Paragraphs = ()
        self._instead_lines: list[StyledLine] = []

    @property
    def row(self) -> IndexRow | None:
        """Return the row under the cursor; None without one."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    @property
    def rows(self) -> tuple[IndexRow, ...]:
        """Return all rows."""
        return self._rows

    def show(
        self, rows: tuple[IndexRow, ...], changed: frozenset[str], path: str, line: int
    ) -> None:
        """Show other rows, with the cursor on the note `path`, preferably on its row for line
        `line` of the index; without such a row the cursor stays.
        """
        before, height = self.row, self.cursor - self.scroll_offset.y
        self._rows, self._changed = rows, changed
        self.cursor = self._nearest(self._number_of(path, line, before))
        self.lines_changed()
        if before is None or self.row is None or self.row.path != before.path:
            self.bring_into_sight(max(self.cursor, 0))
            if self.row is None or self.row.path != path:
                # later: the caller is about to update other widgets
                self.call_later(self._moved)
        elif 0 <= height < self.scrollable_content_region.height:
            self.jump_to(self.cursor - height)

    def _number_of(self, path: str, line: int, before: IndexRow | None) -> int:
        listed = [n for n, row in enumerate(self._rows) if row.path == path and row.is_selectable]
        exact = [n for n in listed if self._rows[n].line == line]
        if not listed and before is not None:
            # the open note is not listed: stay on the row under the cursor
            listed = [n for n, row in enumerate(self._rows) if row.path == before.path]
        notes = [n for n in listed if self._rows[n].kind is RowKind.NOTE]
        return (exact or notes or listed or [max(self.cursor, 0)])[0]

    def set_empty_text(self, texts: Paragraphs) -> None:
        """Set the `texts`, with their styles, to show when there are no rows."""
        if texts != self._instead:
            self._instead = texts
            self._draw_instead()

    def on_resize(self) -> None:
        self._draw_instead()

    def _draw_instead(self) -> None:
        self._instead_lines = render_paragraphs(self._instead, self.content_width)
        self.lines_changed()

    def mark_changed(self, changed: frozenset[str]) -> None:
        """Show which notes another program changed."""
        if changed != self._changed:
            self._changed = changed
            self.refresh()

    def mark_selected(self, chosen: frozenset[str]) -> None:
        """Show which notes the user marked."""
        if chosen != self._chosen:
            self._chosen = chosen
            self.refresh()

    @property
    def line_count(self) -> int:
        return len(self._rows) or len(self._instead_lines)

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        if not self._rows:
            return self._instead_lines[number], ""
        row = self._rows[number]
        marked = row.kind is RowKind.NOTE and row.path in self._chosen
        line = draw_index_row(row, self.content_width, row.path in self._changed, marked)
        return line, "cursor" if number == self.cursor else ""

    def can_stop(self, number: int) -> bool:
        return bool(self._rows) and self._rows[number].is_selectable

    def on_click(self, event: Click) -> None:
        super().on_click(event)
        if event.chain == 2:
            self.post_message(self.Opened())
