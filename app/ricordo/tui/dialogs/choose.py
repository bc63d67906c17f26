"""Choose one of a few options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.text import count_cells, make_one_line
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import NUMBERED_CHOICES, Dialog
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

_LABEL = 16
"""Least cells of a label."""


class Choice(NamedTuple):
    """One option."""

    id: str
    label: str
    """May be text of strangers."""
    help: str
    """Ricordo's own text."""


class ChooseScreen(ModalScreen[str | None]):
    """Returns the id of the chosen option, or None."""

    # absolute: Textual resolves a relative path beside the module of the subclass
    CSS_PATH = Path(__file__).with_name("overlay.tcss")
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.CHOICE,
        {
            "leave": "dismiss(None)",
            "help": "app.show_keys",
            "cursor-down": "move(1)",
            "cursor-up": "move(-1)",
            "open": "choose",
            **{
                f"choice-{number}": f"choose({number})" for number in range(1, NUMBERED_CHOICES + 1)
            },
        },
    )

    def __init__(self, title: str, ways: Sequence[Choice], palette: Palette) -> None:
        """`title` may be text of strangers."""
        super().__init__()
        self._title = title
        self._ways = ways
        self._label = max(_LABEL, *(count_cells(way.label) + 2 for way in ways))
        self._palette = palette
        self._list = RowList(palette, lambda: None, self._render_row, id="ways", one_row=0)

    def compose(self) -> ComposeResult:
        with Vertical(id="overlay", classes="form") as overlay:
            overlay.border_title = Content(make_one_line(self._title))
            yield self._list
        last = min(len(self._ways), NUMBERED_CHOICES)
        keys = (
            (format_first_keys(self.app, "cursor-up", "cursor-down"), "move"),
            (f"{format_first_keys(self.app, 'open')} 1–{last}", "choose"),
            (format_first_keys(self.app, "leave"), "back"),
        )
        yield Bar(self._palette, id="keys").with_left(*render_keys(keys))

    def on_mount(self) -> None:
        self._list.styles.height = len(self._ways)
        self._list.show(len(self._ways), 0)
        self._list.focus()

    def _render_row(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        way = self._ways[number]
        label = make_one_line(way.label)
        label += " " * max(1, self._label - count_cells(label))
        key = str(number + 1) if number < NUMBERED_CHOICES else " "
        spans = (StyledSpan(f" {key} ", "key"), StyledSpan(label), StyledSpan(way.help, "dim"))
        return (StyledLine(spans),)

    def on_row_list_opened(self) -> None:
        self.action_choose()

    def action_move(self, step: int) -> None:
        self._list.move(step)

    def action_choose(self, number: int = 0) -> None:
        """Choose the option of that number; 0 for the one under the cursor."""
        at = number - 1 if number else self._list.at
        if 0 <= at < len(self._ways):
            self.dismiss(self._ways[at].id)
