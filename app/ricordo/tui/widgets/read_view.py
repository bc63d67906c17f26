"""Lines that are only read, on a screen whose keys come from the registry."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from ricordo.tui.widgets.text_view import TextView


class ReadView(TextView, inherit_bindings=False):
    """Moves by the actions of the registry."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def tell(self) -> None:
        """Draw anew from the top, because there is something else to tell."""
        self._lines = self._draw(self.content_width)
        self.lines_changed()
        self.jump_to(0)

    def do_cursor_down(self) -> None:
        """A line down."""
        self.jump_to(self.scroll_offset.y + 1)

    def do_cursor_up(self) -> None:
        """A line up."""
        self.jump_to(self.scroll_offset.y - 1)

    def do_page_down(self) -> None:
        """A page down."""
        self.jump_to(self.scroll_offset.y + self._page)

    def do_page_up(self) -> None:
        """A page up."""
        self.jump_to(self.scroll_offset.y - self._page)

    def do_first(self) -> None:
        """To the beginning."""
        self.jump_to(0)

    def do_last(self) -> None:
        """To the end."""
        self.jump_to(self.line_count)

    @property
    def _page(self) -> int:
        return max(1, self.scrollable_content_region.height - 2)
