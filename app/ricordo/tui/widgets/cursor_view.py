"""A list of lines with a cursor that stops on some of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from textual.events import Click

from ricordo.tui.color_palette import Palette
from ricordo.tui.widgets.line_view import LineView


class CursorView(LineView, inherit_bindings=False):
    """Moves a cursor over the lines on which it can stop, and keeps it in sight."""

    # nobody selects text in a list, and mouse selection costs a third of the drawing time
    ALLOW_SELECT = False
    lines_under_cursor = 1
    """Number of lines that the cursor covers."""
    cursor = -1
    """The line under the cursor; -1 without one."""

    def __init__(self, palette: Palette, moved: Callable[[], None], *, id: str) -> None:
        """`moved` is called when the cursor moved: at once and not by a message, so that its
        effects are painted together with the cursor.
        """
        super().__init__(palette, id=id)
        self._moved = moved

    @abstractmethod
    def can_stop(self, number: int) -> bool:
        """Return whether the cursor can stop on line `number`."""

    def move_to(self, number: int) -> None:
        """Put the cursor on line `number`, or on the nearest line on which it can stop."""
        before = self.cursor
        self.set_cursor(number)
        if self.cursor != before:
            self._moved()

    def set_cursor(self, number: int) -> None:
        """Do the same without calling `moved`."""
        target = self._nearest(number)
        if target != self.cursor:
            for line in (self.cursor, target):
                self.refresh_lines(line, self.lines_under_cursor)
            self.cursor = target
            if target == self._nearest(0):
                # no other key shows the lines above the first stop
                self.jump_to(0)
        if target >= 0:
            self.bring_into_sight(target)

    def move(self, step: int) -> None:
        """Move the cursor by `step` lines on which it can stop."""
        direction = 1 if step > 0 else -1
        number, left = self.cursor, abs(step)
        target = number
        while left:
            number += direction
            if not 0 <= number < self.line_count:
                break
            if self.can_stop(number):
                target = number
                left -= 1
        if target == self.cursor:
            # no further stop: scroll, so that the lines beyond the last stop can be seen
            self.scroll_relative(y=direction, animate=False)
        self.move_to(target)

    def move_page(self, direction: int) -> None:
        """Move the cursor by a page; `direction` is 1 or -1."""
        page = max(1, self.scrollable_content_region.height - 2)
        number = min(max(self.cursor + direction * page, 0), self.line_count - 1)
        self.move_to(number)

    def move_to_end(self, direction: int) -> None:
        """Move the cursor to the first (-1) or the last (1) line on which it can stop."""
        if direction < 0:
            self.scroll_home(animate=False)
        self.move_to(0 if direction < 0 else self.line_count - 1)

    def on_click(self, event: Click) -> None:
        """Put the cursor on the clicked line."""
        number = self.scroll_offset.y + event.get_content_offset_capture(self).y
        if 0 <= number < self.line_count and self.can_stop(number):
            self.move_to(number)

    def _nearest(self, number: int) -> int:
        count = self.line_count
        if count == 0:
            return -1
        number = min(max(number, 0), count - 1)
        for distance in range(count):
            for candidate in (number + distance, number - distance):
                if 0 <= candidate < count and self.can_stop(candidate):
                    return candidate
        return -1
