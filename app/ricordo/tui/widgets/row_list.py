"""A list of things that take a row or two each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.events import Click
from textual.message import Message

from ricordo.tui.color_palette import Palette
from ricordo.tui.render.empty import paragraphs
from ricordo.tui.render.line import StyledLine
from ricordo.tui.widgets.cursor_view import CursorView


class RowList(CursorView):
    """Draws the things in sight by their number."""

    class Opened(Message):
        """The thing under the cursor was opened."""

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
        """`draw` gives the rows of a thing, by its number, for a width: one where it is told so,
        from `one_row` cells on, else two. `rests` says whether the cursor can rest on a thing.
        """
        super().__init__(palette, moved, id=id)
        self._draw_thing = draw
        self._one_row = one_row
        self._rests = rests
        self._count = 0
        self._instead: Sequence[tuple[str, str]] = ()
        self._instead_lines: list[StyledLine] = []

    @property
    def at(self) -> int:
        """The number of the thing under the cursor; -1 where there is none."""
        return self.cursor // self.lines_under_cursor if self._count and self.cursor >= 0 else -1

    def show(self, count: int, at: int, instead: Sequence[tuple[str, str]] = ()) -> None:
        """Show `count` things with the cursor on number `at`; where there are none, say `instead`,
        texts with their styles.
        """
        self._count, self._instead = count, instead
        self._fit(at)

    def _fit(self, at: int) -> None:
        self.lines_under_cursor = 1 if self.content_width >= self._one_row else 2
        self._instead_lines = paragraphs(self._instead, self.content_width)
        self.lines_changed()
        self.put_on(max(at, 0) * self.lines_under_cursor)
        if self._count and self.cursor >= 0:
            self.bring_into_sight(self.cursor + self.lines_under_cursor - 1, margin=0)
        self.refresh()

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._fit(self.at)

    @property
    def line_count(self) -> int:
        """How many rows there are."""
        return self._count * self.lines_under_cursor or len(self._instead_lines)

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        """Draw one row."""
        if not self._count:
            return self._instead_lines[number], ""
        thing, row = divmod(number, self.lines_under_cursor)
        # as it was fitted last: the width may be another already
        line = self._draw_thing(thing, self.content_width, self.lines_under_cursor == 1)[row]
        if thing != self.at:
            return line, ""
        return line, "cursor"

    def can_rest(self, number: int) -> bool:
        """On the first row of each thing on which it can at all."""
        thing, row = divmod(number, self.lines_under_cursor)
        return self._count > 0 and not row and self._rests(thing)

    def on_click(self, event: Click) -> None:
        """A second click opens."""
        super().on_click(event)
        if event.chain == 2:
            self.post_message(self.Opened())
