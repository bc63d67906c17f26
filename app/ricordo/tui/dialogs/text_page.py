"""A page of text: the rule of a finding, the conventions of a memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.line import StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette


class TextScreen(ModalScreen[None]):
    """Shows a page of text."""

    CSS_PATH = "overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.TEXT, {"leave": "dismiss", "close": "dismiss"}
    )

    def __init__(
        self, title: str, make_text: Callable[[int], Iterable[str]], palette: Palette
    ) -> None:
        """`make_text` returns the visible lines for a number of cells. A title is the first of
        them, and every one after an empty line that is not indented.
        """
        super().__init__()
        self._title = title
        self._make_text = make_text
        self._palette = palette

    def compose(self) -> ComposeResult:
        """Lay out the page and the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(self._title)
            yield TextView(self._palette, self._render_text, id="text")
            keys = ((format_first_keys(self.app, "leave"), "close"), ("↑ ↓ PgUp PgDn", "move"))
            yield Bar(self._palette, id="keys").with_left(*render_keys(keys))

    def _render_text(self, width: int) -> list[StyledLine]:
        lines: list[StyledLine] = []
        is_title = True
        for text in self._make_text(width):
            is_title &= not text.startswith(" ")
            style = "heading" if is_title else "dim" if text.startswith("  │") else ""
            lines += [StyledLine(row) for row in wrap([StyledSpan(text, style)], width)]
            is_title = not text
        return lines
