"""The base of screens with a list and the diff of the row under the cursor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widget import Widget

from ricordo.settings.keymap import Keymap
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.base.action_screen import NotebookActions, UndoAction, UndoScreen
from ricordo.tui.context import NO_SECRETS, ActionContext
from ricordo.tui.render.bars import render_key_line
from ricordo.tui.render.line import StyledLine
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.diff_view import MarkedDiff
from ricordo.tui.widgets.row_list import RowList
from ricordo.tui.widgets.text_view import AboutView

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.tui.color_palette import Palette

SIDE_BY_SIDE_WIDTH = 110
"""Columns from which on the diff is beside the list, not below it."""


class TwoPaneScreen(UndoScreen):
    """A screen with a list and a pane about the row under the cursor."""

    _list: RowList
    _pane: Widget

    def __init__(self, palette: Palette, keymap: Keymap, actions: NotebookActions) -> None:
        super().__init__(palette, keymap, actions)
        self._title = Bar(palette, id="title")
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def on_resize(self) -> None:
        self.set_class(self.size.width >= SIDE_BY_SIDE_WIDTH, "-wide")

    def update_bars(self) -> None:
        self._keys.set_content(*render_key_line(self.action_context, self.keymap))

    @abstractmethod
    def _reload(self) -> None:
        """Read again and show what is there now."""

    async def _turn(self, turn: UndoAction) -> None:
        await turn()
        self._reload()

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            "leave": self.go_back,
            "index": self.go_to_list,
            "note": self.go_to_pane,
            "previous": self.go_to_list,
            "next": self.go_to_pane,
            "next-pane": self.go_to_other_pane,
            "previous-pane": self.go_to_other_pane,
        }

    def go_to_list(self) -> None:
        """Focus the list."""
        self._list.focus()

    @abstractmethod
    def go_to_pane(self) -> None:
        """Focus the pane, where it shows something."""

    def go_to_other_pane(self) -> None:
        """Focus the pane from the list, else the list."""
        if self._list.has_focus:
            self.go_to_pane()
        else:
            self.go_to_list()

    def go_back(self) -> None:
        """Go from the pane to the list, from the list one step back."""
        if self._pane.has_focus:
            self.go_to_list()
        else:
            self._leave()

    def _leave(self) -> None:
        """Go one step back from the list, or close the screen."""
        self.dismiss(None)


class ListDiffScreen(TwoPaneScreen):
    """A screen with a list and a diff."""

    # absolute: Textual looks for relative paths beside the module of the subclass
    CSS_PATH = Path(__file__).with_name("list_diff.tcss")

    def __init__(
        self, notebook: Notebook, palette: Palette, keymap: Keymap, actions: NotebookActions
    ) -> None:
        """`notebook` is used in this screen's threads only."""
        super().__init__(palette, keymap, actions)
        self._notebook = notebook
        self._right = Vertical(id="right", classes="pane")
        self._list = RowList(palette, self._chosen, self._rows, id="list", rests=self._rests)
        self._about = AboutView(palette, self._about_lines, id="about")
        self._pane = self._diff = MarkedDiff(palette, self._scrolled, id="diff")

    def compose(self) -> ComposeResult:
        yield self._title
        with Container(id="past"):
            yield self._list.add_class("pane")
            with self._right:
                yield self._about
                yield self._diff
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        self._list.focus()

    @property
    def action_context(self) -> ActionContext:
        reasons = {
            **self._undo_refusals,
            "reveal": "" if self._diff.has_secrets else NO_SECRETS,
            "columns": "" if self._diff.has_hunks else "There is no diff here.",
        }
        return replace(
            super().action_context,
            disabled_reasons={**reasons, **self._refusals},
            revealed=self._diff.is_revealed,
        )

    # What subclasses define

    @property
    @abstractmethod
    def _refusals(self) -> Mapping[str, str]:
        """Why actions are disabled, by action id."""

    @property
    @abstractmethod
    def _has_diff(self) -> bool:
        """Whether there is a diff to show."""

    @abstractmethod
    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        """Return the lines of row `number` of the list; one line where `in_one`."""

    def _rests(self, number: int) -> bool:
        """Return whether the cursor can rest on row `number`."""
        return True

    @abstractmethod
    def _about_lines(self, width: int) -> list[StyledLine]:
        """Return the details of the row under the cursor."""

    @abstractmethod
    def _chosen(self) -> None:
        """Show the diff of the row under the cursor."""

    def _scrolled(self) -> None:
        """Handle that the diff was scrolled."""

    # What the keys do

    def go_to_pane(self) -> None:
        """Focus the diff, where there is one."""
        if self._has_diff:
            self._diff.focus()

    def _scroll_page(self, direction: int) -> None:
        height = max(1, self._diff.scrollable_content_region.height - 2)
        self._diff.jump_to(self._diff.scroll_offset.y + direction * height)

    def go_to_end(self) -> None:
        """Go to the end."""
        self._focused_view.move_to_end(1)
        if self._diff.has_focus:
            # the cursor rests at the start of a hunk, which may be far above the end
            self._diff.jump_to(self._diff.line_count)

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            **moving_handlers(self._focused_view),
            "reveal": self._diff.toggle_reveal,
            "columns": self._diff.toggle_columns,
            "last": self.go_to_end,
            "page-down": partial(self._scroll_page, 1),
            "page-up": partial(self._scroll_page, -1),
        }

    @property
    def _focused_view(self) -> RowList | MarkedDiff:
        return self._diff if self._diff.has_focus else self._list

    def on_row_list_opened(self) -> None:
        self.action_do("open")
