"""Both sides of a conflict hold: for what or when each of them does is typed below its claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult

from ricordo.notebook.conflicts import Conflict
from ricordo.text import one_line
from ricordo.tui.render.line import Span
from ricordo.tui.screens.form import LABEL, Field, FormScreen
from ricordo.tui.widgets.bar import Bar

if TYPE_CHECKING:
    from ricordo.tui.palette import Palette

_HINT = "until a day, since a day, on laptops, in tests …"
_WORDS = "When, or for what, each claim holds; it is written behind it."


class BothScreen(FormScreen):
    """Ends with what was typed of the `left` and the `right` claim."""

    def __init__(self, conflict: Conflict, left: str, right: str, palette: Palette) -> None:
        """`left` and `right` are what was typed before."""
        fields = [Field("left", left, _HINT), Field("right", right, _HINT)]
        super().__init__("Both are true", fields, palette, "show it", _WORDS)
        self._conflict = conflict

    def compose_below(self) -> ComposeResult:
        """The two claims."""
        for name, side in (("left", self._conflict.left), ("right", self._conflict.right)):
            label = Span(f" {name + ' says':<{LABEL}}", "dim")
            bar = Bar(self._palette, id=f"{name}-claim", base="")
            yield bar.with_left(label, Span(f"“{one_line(side.quote.text)}”"))
