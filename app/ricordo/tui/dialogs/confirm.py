"""Ask the user to type a word before something drastic is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from ricordo.tui.dialogs.form import Field, FieldForm
from ricordo.tui.render.line import StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

CONFIRMATION_WORD = "apply"
"""The word to type, as on the command line."""
_MOST_ROWS = 10
_WIDEST = 90
"""Most cells of a form."""


class ConfirmScreen(FieldForm[bool]):
    """Returns whether the word was typed."""

    def __init__(
        self, title: str, alarming: Sequence[str], palette: Palette, word: str = CONFIRMATION_WORD
    ) -> None:
        """`alarming` is what would be done, visible text, a line each; `word` is to be typed."""
        fields = [Field("type", "", f"“{word}” to confirm")]
        super().__init__(title, fields, palette, "confirm")
        self._alarming = alarming
        self._word = word
        self._list = TextView(palette, self._render_text, id="alarming")

    def compose_below(self) -> ComposeResult:
        """Show what would be done."""
        yield self._list

    def on_mount(self) -> None:
        """Give the text the rows that it needs."""
        width = min(self.size.width, _WIDEST) - 8
        self._list.styles.height = min(len(self._render_text(width)), _MOST_ROWS)

    def _render_text(self, width: int) -> list[StyledLine]:
        first, rest = (StyledSpan(" ! ", "warning"),), (StyledSpan("   "),)
        return [
            StyledLine(row)
            for text in self._alarming
            for row in wrap([StyledSpan(text)], width - 1, first, rest)
        ]

    def close_form(self, *, confirmed: bool) -> None:
        """Return the confirmation; stay open after another word."""
        if confirmed and self.values["type"].strip() != self._word:
            message = f"Nothing was done. Type “{self._word}” to confirm, or press Esc."
            self.notify(message, severity="warning", markup=False)
            return
        self.dismiss(confirmed)
