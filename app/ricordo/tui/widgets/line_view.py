"""The base of everything that can grow: a view that draws only the lines in sight."""

from __future__ import annotations

from abc import abstractmethod

from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from ricordo.tui.color_palette import Palette
from ricordo.tui.render.line import StyledLine

_BEFORE_HELD = 2
"""Rows that are shown before those that are held in sight, where there is room."""


class LineView(ScrollView, can_focus=True):
    """Shows lines by number. What a line looks like is made when it is drawn."""

    ALLOW_SELECT = True

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        """`palette` gives the styles; it is replaced when the theme changes."""
        super().__init__(id=id)
        self._palette = palette
        self._held = range(0)

    @property
    @abstractmethod
    def line_count(self) -> int:
        """How many lines there are."""

    @abstractmethod
    def line_at(self, number: int) -> tuple[StyledLine, str]:
        """Return line `number`, from 0, and the style on which it is drawn."""

    def repaint(self, palette: Palette) -> None:
        """Draw everything anew with the styles of `palette`."""
        self._palette = palette
        self.refresh()

    def lines_changed(self, first: int = 0) -> None:
        """Tell that there are other lines now, from line `first` on."""
        size = Size(self.content_width, self.line_count)
        if size != self.virtual_size:
            # set as an ordinary reactive it would lay the whole screen out anew at every key; the
            # scroll bar always has its column, so that nothing but the bar has to change
            self.set_reactive(ScrollView.virtual_size, size)
            self._scroll_update(size)
        row = max(0, first - self.scroll_offset.y)
        if row < self.size.height:
            self.refresh(Region(0, row, self.size.width, self.size.height - row))

    @property
    def content_width(self) -> int:
        """Cells that a line can take; the scroll bar's column stays free."""
        return max(10, self.size.width - self.styles.scrollbar_size_vertical)

    def render_line(self, y: int) -> Strip:
        """Draw row `y` of the widget."""
        number = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        if number >= self.line_count:
            return Strip.blank(width, self._palette.ground)
        line, base = self.line_at(number)
        strip = self._palette.strip(line, width, base)
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
        return Strip.join([before, inside.apply_style(self._palette.style("selection")), after])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that the mouse selected."""
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
        # forced, because the scroll bar of a longer text comes only with the next layout
        self.scroll_to(y=max(0, top), animate=False, force=True, immediate=True)

    def hold(self, rows: range) -> None:
        """Keep the first of `rows` in sight until the user moves, however the view is laid out:
        from the top where they fit there, else with a little of what stands before them.
        """
        self._held = rows
        if rows:
            height = self.scrollable_content_region.height
            before = min(_BEFORE_HELD, max(0, height - 1) // 3)
            self.jump_to(0 if rows.stop <= height else rows.start - before)

    def release(self) -> None:
        """Keep nothing in sight any longer: the user moves."""
        self._held = range(0)

    def on_resize(self) -> None:
        """Keep in sight what is held there."""
        self.hold(self._held)

    def on_mouse_scroll_down(self) -> None:
        """Let the user move."""
        self.release()

    on_mouse_scroll_up = on_mouse_scroll_down

    def bring_into_sight(self, number: int, *, margin: int = 1) -> None:
        """Scroll so that line `number` is in sight."""
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if number < top + margin:
            self.jump_to(number - margin)
        elif number >= top + height - margin:
            self.jump_to(number - height + margin + 1)
