"""A few lines on what stands below them, as high as they are."""

from __future__ import annotations

from ricordo.tui.widgets.text_view import TextView

_MOST_ROWS = 8


class AboutView(TextView, can_focus=False):
    """Takes no more room than its lines need."""

    def tell(self) -> None:
        """Draw anew, because there is something else to tell."""
        self._lines = self._draw(self.content_width)
        self.lines_changed()
        self.jump_to(0)
        self.styles.height = min(max(len(self._lines), 1), _MOST_ROWS)

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.tell()
