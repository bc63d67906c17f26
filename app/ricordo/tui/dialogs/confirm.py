"""What may only be done after it was typed that it is meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from ricordo.tui.dialogs.form import Field, FieldForm
from ricordo.tui.render.line import StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

CONFIRMATION = "apply"
"""What has to be typed, as on the command line."""
_MOST_ROWS = 10
_WIDEST = 90
"""Cells of a form."""


class ConfirmScreen(FieldForm[bool]):
    """Ends with whether the word was typed."""

    def __init__(
        self, title: str, alarming: Sequence[str], palette: Palette, word: str = CONFIRMATION
    ) -> None:
        """`alarming` is what would be done, visible text, a line each; `word` has to be typed."""
        fields = [Field("type", "", f"“{word}” to do it")]
        super().__init__(title, fields, palette, "do it")
        self._alarming = alarming
        self._word = word
        self._list = TextView(palette, self._lines, id="alarming")

    def compose_below(self) -> ComposeResult:
        """What would be done."""
        yield self._list

    def on_mount(self) -> None:
        """Have room for what would be done, begin where it is typed."""
        width = min(self.size.width, _WIDEST) - 8
        self._list.styles.height = min(len(self._lines(width)), _MOST_ROWS)

    def _lines(self, width: int) -> list[StyledLine]:
        first, rest = (StyledSpan(" ! ", "warning"),), (StyledSpan("   "),)
        return [
            StyledLine(row)
            for text in self._alarming
            for row in wrap([StyledSpan(text)], width - 1, first, rest)
        ]

    def end(self, *, confirmed: bool) -> None:
        """End with whether it is meant; another word than the one that is asked for is none."""
        if confirmed and self.filled["type"].strip() != self._word:
            said = f"Nothing was done: “{self._word}” has to be typed, or Esc leaves."
            self.notify(said, severity="warning", markup=False)
            return
        self.dismiss(confirmed)
