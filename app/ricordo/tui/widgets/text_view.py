"""Views of lines without a cursor."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType

from ricordo.tui.actions.bindings import dialog_bindings
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.color_palette import Palette
from ricordo.tui.render.line import StyledLine
from ricordo.tui.widgets.line_view import LineView


class TextView(LineView):
    """Shows the lines that `draw` returns for its width."""

    is_prose: ClassVar[bool] = False
    """Whether its lines are no longer than those of prose."""
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.TEXT,
        {
            "cursor-down": "scroll_down",
            "cursor-up": "scroll_up",
            "page-down": "page_down",
            "page-up": "page_up",
            "first": "scroll_home",
            "last": "scroll_end",
        },
    )

    def __init__(
        self, palette: Palette, draw: Callable[[int], list[StyledLine]], *, id: str
    ) -> None:
        """`draw` returns the lines for a width in cells."""
        super().__init__(palette, id=id)
        self._draw = draw
        self._lines: list[StyledLine] = []

    def on_resize(self) -> None:
        self._lines = self._draw(self._draw_width)
        self.lines_changed()

    @property
    def _draw_width(self) -> int:
        return self.prose_width if self.is_prose else self.content_width

    @property
    def line_count(self) -> int:
        return len(self._lines)

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        return self._lines[number], ""

    def _move_to(self, top: int) -> None:
        self.release()
        self.jump_to(top)

    def move(self, step: int) -> None:
        self._move_to(self.scroll_offset.y + step)

    def move_page(self, direction: int) -> None:
        page = max(1, self.scrollable_content_region.height - 2)
        self._move_to(self.scroll_offset.y + direction * page)

    def move_to_end(self, direction: int) -> None:
        self._move_to(0 if direction < 0 else self.line_count)


_MOST_ROWS = 8


class AboutView(TextView, can_focus=False):
    """Is as high as its lines, up to a limit."""

    is_prose = True
    most_rows = _MOST_ROWS

    def redraw(self) -> None:
        """Draw again: the lines changed."""
        self._lines = self._draw(self._draw_width)
        self.lines_changed()
        self.jump_to(0)
        self.styles.height = min(max(len(self._lines), 1), self.most_rows)

    def on_resize(self) -> None:
        self.redraw()


class ReadView(TextView, inherit_bindings=False):
    """Scrolls by the actions of the registry."""

    is_prose = True
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(
        self,
        palette: Palette,
        draw: Callable[[int], list[StyledLine]],
        *,
        id: str,
        main_rows: Callable[[], range] = lambda: range(0),
    ) -> None:
        """`draw` returns the lines for a width in cells; `main_rows` returns the rows of the last
        drawing that have to be in sight.
        """
        super().__init__(palette, draw, id=id)
        self._main_rows = main_rows

    def redraw(self) -> None:
        """Draw again: the lines changed."""
        self._lines = self._draw(self._draw_width)
        self.lines_changed()
        self.jump_to(0)
        self.hold(self._main_rows())

    def on_resize(self) -> None:
        super().on_resize()
        if self._held:
            self.hold(self._main_rows())
