"""Lines that are only read."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from ricordo.tui.palette import Palette
from ricordo.tui.render.line import Line
from ricordo.tui.widgets.line_view import LineView


class TextView(LineView):
    """Shows what `draw` gives for its width."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
        Binding("g", "scroll_home", show=False),
        Binding("G", "scroll_end", show=False),
    ]

    def __init__(self, palette: Palette, draw: Callable[[int], list[Line]], *, id: str) -> None:
        """`draw` gives the lines for a width in cells."""
        super().__init__(palette, id=id)
        self._draw = draw
        self._lines: list[Line] = []

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._lines = self._draw(self.content_width)
        self.lines_changed()

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def line_at(self, number: int) -> tuple[Line, str]:
        """Give one line."""
        return self._lines[number], ""
