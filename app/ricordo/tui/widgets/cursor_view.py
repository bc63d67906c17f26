"""A list of lines with a cursor that rests on some of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from textual.events import Click

from ricordo.tui.color_palette import Palette
from ricordo.tui.widgets.line_view import LineView


class CursorView(LineView, inherit_bindings=False):
    """Moves a cursor over the lines on which it can rest, and keeps it in sight."""

    # lists are chosen from, not read: what would let the mouse select costs a third of drawing
    ALLOW_SELECT = False
    lines_under_cursor = 1
    """How many lines the cursor covers."""
    cursor = -1
    """The line under the cursor; -1 where there is none."""

    def __init__(self, palette: Palette, moved: Callable[[], None], *, id: str) -> None:
        """`moved` is called when another line is under the cursor: at once and not by a message,
        so that what it brings on the screen is painted together with the cursor.
        """
        super().__init__(palette, id=id)
        self._moved = moved

    @abstractmethod
    def can_rest(self, number: int) -> bool:
        """Say whether the cursor can rest on line `number`."""

    def rest_on(self, number: int) -> None:
        """Put the cursor on line `number`, or on the nearest line on which it can rest."""
        before = self.cursor
        self.put_on(number)
        if self.cursor != before:
            self._moved()

    def put_on(self, number: int) -> None:
        """Do the same without telling anybody."""
        found = self._nearest(number)
        if found != self.cursor:
            for line in (self.cursor, found):
                self.refresh_lines(line, self.lines_under_cursor)
            self.cursor = found
            if found == self._nearest(0):
                # what stands above the first of all is reached by no other key
                self.jump_to(0)
        if found >= 0:
            self.bring_into_sight(found)

    def move(self, step: int) -> None:
        """Move the cursor by `step` lines on which it can rest."""
        direction = 1 if step > 0 else -1
        number, left = self.cursor, abs(step)
        target = number
        while left:
            number += direction
            if not 0 <= number < self.line_count:
                break
            if self.can_rest(number):
                target = number
                left -= 1
        if target == self.cursor:
            # nothing further to rest on: let what lies beyond the last rest come into sight
            self.scroll_relative(y=direction, animate=False)
        self.rest_on(target)

    def move_page(self, direction: int) -> None:
        """Move the cursor by what fits on the screen; `direction` is 1 or -1."""
        page = max(1, self.scrollable_content_region.height - 2)
        number = min(max(self.cursor + direction * page, 0), self.line_count - 1)
        self.rest_on(number)

    def move_to_end(self, direction: int) -> None:
        """Move the cursor to the first (-1) or the last (1) line on which it can rest."""
        if direction < 0:
            self.scroll_home(animate=False)
        self.rest_on(0 if direction < 0 else self.line_count - 1)

    def on_click(self, event: Click) -> None:
        """Put the cursor where the mouse was clicked."""
        number = self.scroll_offset.y + event.get_content_offset_capture(self).y
        if 0 <= number < self.line_count and self.can_rest(number):
            self.rest_on(number)

    def _nearest(self, number: int) -> int:
        count = self.line_count
        if count == 0:
            return -1
        number = min(max(number, 0), count - 1)
        for distance in range(count):
            for candidate in (number + distance, number - distance):
                if 0 <= candidate < count and self.can_rest(candidate):
                    return candidate
        return -1
