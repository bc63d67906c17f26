"""One line of spans: the status line, the key line, the hint."""

from __future__ import annotations

from typing import Self

from textual.strip import Strip
from textual.widget import Widget

from ricordo.tui.color_palette import Palette
from ricordo.tui.render.line import StyledLine, StyledSpan, fit_keys, measure


class Bar(Widget):
    """Shows one part at the left and one at the right, cut to the width."""

    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, palette: Palette, *, id: str, base: str = "bar") -> None:
        """Start empty; `base` is the style of the background."""
        super().__init__(id=id)
        self._base = base
        self._palette = palette
        self._left: tuple[StyledSpan, ...] = ()
        self._rights: tuple[tuple[StyledSpan, ...], ...] = ()

    def set_content(self, left: tuple[StyledSpan, ...], *rights: tuple[StyledSpan, ...]) -> None:
        """Show other spans: `left`, and the first of `rights` that fits; if none does, the last of
        them with `left` cut.
        """
        if (left, rights) != (self._left, self._rights):
            self._left, self._rights = left, rights
            self.refresh()

    def with_left(self, *left: StyledSpan) -> Self:
        """Return this bar, showing `left`."""
        self._left = left
        return self

    def repaint(self, palette: Palette) -> None:
        self._palette = palette
        self.refresh()

    @property
    def text(self) -> str:
        """Return the shown text without styles."""
        return StyledLine((*self._left, StyledSpan("  "), *self._right)).text

    @property
    def _right(self) -> tuple[StyledSpan, ...]:
        room = self.size.width - measure(self._left) - 2
        last = self._rights[-1] if self._rights else ()
        return next((right for right in self._rights if measure(right) <= room), last)

    def render_line(self, y: int) -> Strip:
        width, right = self.size.width, self._right
        left = fit_keys(self._left, width - measure(right))
        gap = StyledSpan(" " * max(0, width - measure(left) - measure(right)))
        return self._palette.make_strip(StyledLine((*left, gap, *right)), width, self._base)
