"""The base of screens with a list and the diff of the row under the cursor."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from textual.app import ComposeResult
from textual.containers import Container, Vertical

from ricordo.errors import RicordoError
from ricordo.settings.keymap import Keymap
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.base.action_screen import ActionScreen
from ricordo.tui.context import NO_SECRETS, ActionContext, needs_redo, needs_undo
from ricordo.tui.render.bars import render_key_line
from ricordo.tui.render.line import StyledLine
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.diff_view import MarkedDiff
from ricordo.tui.widgets.row_list import RowList
from ricordo.tui.widgets.text_view import AboutView

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.storage.writer import Applied
    from ricordo.tui.color_palette import Palette

UndoAction = Callable[[], Awaitable[frozenset[str]]]
"""Undoes or redoes the last change; returns what it was about, such as paths of notes."""

SIDE_BY_SIDE_WIDTH = 110
"""Columns from which on the diff is beside the list, not below it."""


class NotebookActions(Protocol):
    """What the notebook does for other screens: it writes, and reports what fails."""

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to redo."""

    async def propose(self, title: str, change_set: ChangeSet) -> ChangeSet | None:
        """Show a change set; return what the user approves of it, None for nothing."""

    async def write_approved(self, change_set: ChangeSet) -> Applied | None:
        """Apply what the user has seen; return None where nothing was written."""

    async def edit_note(self, path: str) -> None:
        """Open a note in the user's editor and write what was saved."""

    async def retire_note(self, path: str) -> bool:
        """Propose to retire a note, and do it where the user approves; return whether it was
        retired.
        """

    async def undo_last(self) -> frozenset[str]:
        """Undo the last change; return what it was about, such as paths of notes."""

    async def redo_last(self) -> frozenset[str]:
        """Redo what was undone last; return what it was about, such as paths of notes."""


class ListDiffScreen(ActionScreen[None]):
    """A screen with a list and a diff."""

    # absolute: Textual looks for relative paths beside the module of the subclass
    CSS_PATH = Path(__file__).with_name("list_diff.tcss")

    def __init__(
        self, notebook: Notebook, palette: Palette, keymap: Keymap, actions: NotebookActions
    ) -> None:
        """`notebook` is used in this screen's threads only."""
        super().__init__(palette, keymap)
        self._notebook = notebook
        self._actions = actions
        self._one_at_a_time = asyncio.Lock()
        self._title = Bar(palette, id="title")
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")
        self._right = Vertical(id="right", classes="pane")
        self._list = RowList(palette, self._chosen, self._rows, id="list", rests=self._rests)
        self._about = AboutView(palette, self._about_lines, id="about")
        self._diff = MarkedDiff(palette, self._scrolled, id="diff")

    def compose(self) -> ComposeResult:
        """Compose the title, the list, the details with the diff, the state and the keys."""
        yield self._title
        with Container(id="past"):
            yield self._list.add_class("pane")
            with self._right:
                yield self._about
                yield self._diff
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        """Focus the list."""
        self._list.focus()

    def on_resize(self) -> None:
        """Put the diff beside the list where there is room, else below it."""
        self.set_class(self.size.width >= SIDE_BY_SIDE_WIDTH, "-wide")

    @property
    def action_context(self) -> ActionContext:
        """The context of the actions: what can be undone, and why actions are disabled."""
        history = ActionContext(undo=self._actions.can_undo, redo=self._actions.can_redo)
        reveal = "" if self._diff.has_secrets else NO_SECRETS
        refusals = {"undo": needs_undo(history), "redo": needs_redo(history), "reveal": reveal}
        return replace(
            super().action_context,
            disabled_reasons=refusals | dict(self._refusals),
            revealed=self._diff.is_revealed,
        )

    def update_bars(self) -> None:
        """Update the bottom line."""
        self._keys.set_content(*render_key_line(self.action_context, self.keymap))

    def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work`, which may write, after all earlier work."""
        # not exclusive: later work must not cancel a write
        self.run_worker(self._run_in_turn(work), group="in turn")

    async def _run_in_turn(self, work: Callable[[], Awaitable[None]]) -> None:
        async with self._one_at_a_time:
            await self._run_reporting(work)

    async def _run_reporting(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work`; report its error, if any."""
        try:
            await work()
        except RicordoError as error:
            self.notify(str(error), severity="error", markup=False, timeout=10)

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

    @abstractmethod
    def _leave(self) -> None:
        """Go one step back from the list, or close the screen."""

    @abstractmethod
    def _reload(self) -> None:
        """Read again and show what is there now."""

    # What the keys do

    def go_back(self) -> None:
        """Go from the diff to the list, from the list one step back."""
        if self._diff.has_focus:
            self._list.focus()
        else:
            self._leave()

    def go_to_list(self) -> None:
        """Focus the list."""
        self._list.focus()

    def go_to_diff(self) -> None:
        """Focus the diff, where there is one."""
        if self._has_diff:
            self._diff.focus()

    def go_to_other_pane(self) -> None:
        """Focus the diff from the list, else the list."""
        if self._list.has_focus:
            self.go_to_diff()
        else:
            self.go_to_list()

    def toggle_secrets(self) -> None:
        """Show the secrets of the diff, or mask them again."""
        self._diff.toggle_reveal()

    def toggle_columns(self) -> None:
        """Show the diff side by side, or in one column."""
        self._diff.toggle_columns()

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
        """What the keys do, by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._focused_view),
            "leave": self.go_back,
            "index": self.go_to_list,
            "note": self.go_to_diff,
            "next-pane": self.go_to_other_pane,
            "reveal": self.toggle_secrets,
            "columns": self.toggle_columns,
            "last": self.go_to_end,
            "undo": self.undo,
            "redo": self.redo,
            "next": self.go_to_diff,
            "previous": self.go_to_list,
            "previous-pane": self.go_to_other_pane,
            "page-down": partial(self._scroll_page, 1),
            "page-up": partial(self._scroll_page, -1),
        }

    @property
    def _focused_view(self) -> RowList | MarkedDiff:
        return self._diff if self._diff.has_focus else self._list

    def undo(self) -> None:
        """Undo the last change."""
        self._begin(partial(self._turn, self._actions.undo_last))

    def redo(self) -> None:
        """Redo what was undone last."""
        self._begin(partial(self._turn, self._actions.redo_last))

    async def _turn(self, turn: UndoAction) -> None:
        await turn()
        self._reload()
