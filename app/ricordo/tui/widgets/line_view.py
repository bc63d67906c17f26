"""The base of all scrollable views, which draws only the lines in sight, and one with a cursor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from textual.events import Click
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from ricordo.tui.color_palette import Palette
from ricordo.tui.render.line import MEASURE, StyledLine

_BEFORE_HELD = 2
"""Rows that are shown before held rows, if there is room."""


class LineView(ScrollView, can_focus=True):
    """Shows lines by number; a line is made when it is drawn."""

    ALLOW_SELECT = True

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        """`palette` gives the styles; it is replaced when the theme changes."""
        super().__init__(id=id)
        self._palette = palette
        self._held = range(0)

    @property
    @abstractmethod
    def line_count(self) -> int:
        """Return the number of lines."""

    @abstractmethod
    def line_at(self, number: int) -> tuple[StyledLine, str]:
        """Return line `number`, from 0, and the style of its background."""

    def repaint(self, palette: Palette) -> None:
        """Draw everything again with the styles of `palette`."""
        self._palette = palette
        self.refresh()

    def lines_changed(self, first: int = 0) -> None:
        """Update the size and draw again: the lines from line `first` on changed."""
        size = Size(self.content_width, self.line_count)
        if size != self.virtual_size:
            # an ordinary reactive would lay out the whole screen at every key; the scroll bar
            # always has its column, so that only the bar has to change
            self.set_reactive(ScrollView.virtual_size, size)
            self._scroll_update(size)
        row = max(0, first - self.scroll_offset.y)
        if row < self.size.height:
            self.refresh(Region(0, row, self.size.width, self.size.height - row))

    @property
    def content_width(self) -> int:
        """Return the cells of a line; the scroll bar's column stays free."""
        return max(10, self.size.width - self.styles.scrollbar_size_vertical)

    @property
    def prose_width(self) -> int:
        """Return the cells of a line of prose."""
        return min(self.content_width, MEASURE)

    def render_line(self, y: int) -> Strip:
        """Draw row `y` of the widget."""
        number = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        if number >= self.line_count:
            return Strip.blank(width, self._palette.base_style)
        line, base = self.line_at(number)
        strip = self._palette.make_strip(line, width, base)
        if not self.ALLOW_SELECT:
            return strip
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(number)) is not None:
            strip = self._selected(strip, *span)
        return strip.apply_offsets(0, number)

    def _selected(self, strip: Strip, start: int, end: int) -> Strip:
        stop = strip.cell_length if end == -1 else min(end, strip.cell_length)
        if start >= stop:
            return strip
        before, inside, after = strip.divide([start, stop, strip.cell_length])
        return Strip.join(
            [before, inside.apply_style(self._palette.find_style("selection")), after]
        )

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text selected with the mouse."""
        rows = range(self.line_count)
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else len(rows) - 1
        picked: list[str] = []
        for number in rows[first : last + 1]:
            span = selection.get_span(number)
            if span is not None:
                text = self.line_at(number)[0].text
                picked.append(text[span[0] : None if span[1] == -1 else span[1]].rstrip())
        return "\n".join(picked), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the new selection."""
        self.refresh()

    def jump_to(self, top: int) -> None:
        """Show line `top` first, or as far up as the end allows."""
        # forced: the scroll bar of a longer text appears only with the next layout
        self.scroll_to(y=max(0, top), animate=False, force=True, immediate=True)

    def hold(self, rows: range) -> None:
        """Keep `rows` in sight until the user moves, whatever the layout: scrolled to the top of
        the text if they fit there, else with a few rows before them.
        """
        self._held = rows
        if rows:
            height = self.scrollable_content_region.height
            before = min(_BEFORE_HELD, max(0, height - 1) // 3)
            self.jump_to(0 if rows.stop <= height else rows.start - before)

    def release(self) -> None:
        """Stop holding rows: the user moves."""
        self._held = range(0)

    def on_resize(self) -> None:
        """Keep held rows in sight."""
        self.hold(self._held)

    def on_mouse_scroll_down(self) -> None:
        """Stop holding rows: the user scrolls."""
        self.release()

    on_mouse_scroll_up = on_mouse_scroll_down

    def bring_into_sight(self, number: int, *, margin: int = 1) -> None:
        """Scroll so that line `number` is in sight."""
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if number < top + margin:
            self.jump_to(number - margin)
        elif number >= top + height - margin:
            self.jump_to(number - height + margin + 1)


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

    def can_stop(self, number: int) -> bool:
        """Return whether the cursor can stop on line `number`."""
        return True

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
