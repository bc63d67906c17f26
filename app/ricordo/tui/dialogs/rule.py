"""The rule of a finding: what it checks, why that matters, examples, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.services.rule_help import format_rule
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.line import StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.lint.rule_page import RulePage
    from ricordo.tui.color_palette import Palette


class RuleScreen(ModalScreen[None]):
    """Shows the page of a rule."""

    CSS_PATH = "overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.TEXT, {"leave": "dismiss", "close": "dismiss"}
    )

    def __init__(self, page: RulePage, set_to: str, palette: Palette) -> None:
        """`set_to` is the severity in the settings or `off`; "" where they do not name the rule."""
        super().__init__()
        self._page = page
        self._set_to = set_to
        self._palette = palette

    def compose(self) -> ComposeResult:
        """Lay out the page and the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(self._page.name)
            yield TextView(self._palette, self._render_text, id="text")
            keys = ((format_first_keys(self.app, "leave"), "close"), ("↑ ↓ PgUp PgDn", "move"))
            yield Bar(self._palette, id="keys").with_left(*render_keys(keys))

    def _render_text(self, width: int) -> list[StyledLine]:
        lines: list[StyledLine] = []
        is_title = True
        for text in format_rule(self._page, width, self._set_to):
            # a title is the first line, and every line after an empty one that is not indented
            is_title &= not text.startswith(" ")
            style = "heading" if is_title else "dim" if text.startswith("  │") else ""
            lines += [StyledLine(row) for row in wrap([StyledSpan(text, style)], width)]
            is_title = not text
        return lines
