"""The finding under the cursor in full."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from ricordo.health.finding import Finding
from ricordo.tui.palette import Palette
from ricordo.tui.render.freshness_rows import finding_detail
from ricordo.tui.render.line import BLANK, Line


class FindingBox(Widget):
    """Message and evidence of one finding, as much as there is room for."""

    def __init__(self, palette: Palette, *, id: str) -> None:
        """Empty until `show` gives it a finding."""
        super().__init__(id=id)
        self._palette = palette
        self._finding: Finding | None = None
        self._lines: list[Line] = []

    def show(self, finding: Finding | None) -> None:
        """Show another finding, or none."""
        if finding != self._finding:
            self._finding = finding
            self._draw()

    def repaint(self, palette: Palette) -> None:
        """Draw anew with the styles of `palette`."""
        self._palette = palette
        self.refresh()

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw()

    def _draw(self) -> None:
        width, height = self.size.width, self.size.height
        self._lines = finding_detail(self._finding, width, height) if self._finding else []
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        line = self._lines[y] if y < len(self._lines) else BLANK
        return self._palette.strip(line, self.size.width)
