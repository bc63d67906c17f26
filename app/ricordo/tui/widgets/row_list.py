"""A list of items of one or two rows each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.events import Click
from textual.message import Message

from ricordo.tui.color_palette import Palette
from ricordo.tui.render.empty import render_paragraphs
from ricordo.tui.render.line import StyledLine
from ricordo.tui.widgets.line_view import CursorView


class RowList(CursorView):
    """Draws the items in sight by number."""

    class Opened(Message):
        """The item under the cursor was opened."""

    def __init__(
        self,
        palette: Palette,
        moved: Callable[[], None],
        draw: Callable[[int, int, bool], Sequence[StyledLine]],
        *,
        id: str,
        one_row: int = 70,
        rests: Callable[[int], bool] = lambda _: True,
    ) -> None:
        """`draw` returns the rows of an item for its number and a width: one row if its third
        argument is True (from `one_row` cells on), else two. `rests` returns whether the cursor can
        stop on an item.
        """
        super().__init__(palette, moved, id=id)
        self._draw_item = draw
        self._one_row = one_row
        self._can_rest_on = rests
        self._count = 0
        self._instead: Sequence[tuple[str, str]] = ()
        self._instead_lines: list[StyledLine] = []

    @property
    def at(self) -> int:
        """Return the number of the item under the cursor; -1 without one."""
        return self.cursor // self.lines_under_cursor if self._count and self.cursor >= 0 else -1

    def show(self, count: int, at: int, instead: Sequence[tuple[str, str]] = ()) -> None:
        """Show `count` items with the cursor on item `at`; without items show `instead`, texts with
        their styles.
        """
        self._count, self._instead = count, instead
        self._fit(at)

    def _fit(self, at: int) -> None:
        self.lines_under_cursor = 1 if self.content_width >= self._one_row else 2
        self._instead_lines = render_paragraphs(self._instead, self.content_width)
        self.lines_changed()
        self.set_cursor(max(at, 0) * self.lines_under_cursor)
        if self._count and self.cursor >= 0:
            self.bring_into_sight(self.cursor + self.lines_under_cursor - 1, margin=0)
        self.refresh()

    def on_resize(self) -> None:
        self._fit(self.at)

    @property
    def line_count(self) -> int:
        return self._count * self.lines_under_cursor or len(self._instead_lines)

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        if not self._count:
            return self._instead_lines[number], ""
        thing, row = divmod(number, self.lines_under_cursor)
        # the layout of the last fit: the width may have changed since
        line = self._draw_item(thing, self.content_width, self.lines_under_cursor == 1)[row]
        return line, "cursor" if thing == self.at else ""

    def can_stop(self, number: int) -> bool:
        thing, row = divmod(number, self.lines_under_cursor)
        return self._count > 0 and not row and self._can_rest_on(thing)

    def on_click(self, event: Click) -> None:
        super().on_click(event)
        if event.chain == 2:
            self.post_message(self.Opened())
