"""The base of the screens with a list and a diff: what becomes of the thing under the cursor."""

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
from ricordo.tui.actions.handlers import Handlers, moving_handlers
from ricordo.tui.base.acting_screen import ActingScreen
from ricordo.tui.context import NO_SECRETS, Situation, needs_redo, needs_undo
from ricordo.tui.render.bars import key_line
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

Turn = Callable[[], Awaitable[frozenset[str]]]
"""Takes an act back, or does it again; gives what it was about."""

WIDE = 110
"""Columns from which on the diff stands beside the list."""


class RevertActions(Protocol):
    """What the notebook does to the memory for the screens that look back. What cannot be done is
    told by it.
    """

    @property
    def can_undo(self) -> bool:
        """Whether there is an act to take back."""

    @property
    def can_redo(self) -> bool:
        """Whether there is one to do again."""

    async def propose(self, title: str, change_set: ChangeSet) -> ChangeSet | None:
        """Show a change set; return what the person approves of it."""

    async def write_seen(self, change_set: ChangeSet) -> Applied | None:
        """Apply what the person has seen; return None where nothing was written."""

    async def edit_note(self, path: str) -> None:
        """Open a note in the person's editor, and write what was saved."""

    async def retire_note(self, path: str) -> bool:
        """Show what it means to retire a note, and do it where the person approves; say whether it
        was done.
        """

    async def undo_last(self) -> frozenset[str]:
        """Take the last act back; return what it was about, such as paths of notes."""

    async def redo_last(self) -> frozenset[str]:
        """Do again what was undone last; return what it was about, such as paths of notes."""


class PastScreen(ActingScreen[None]):
    """Moves between the list and the diff, and in them."""

    # a path for itself: Textual looks for other ones beside the module of the subclass
    CSS_PATH = Path(__file__).with_name("list_diff.tcss")

    def __init__(
        self, notebook: Notebook, palette: Palette, keymap: Keymap, actions: RevertActions
    ) -> None:
        """`notebook` is for this screen's threads."""
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
        """A title; the list beside what is known of one thing; state and keys."""
        yield self._title
        with Container(id="past"):
            yield self._list.add_class("pane")
            with self._right:
                yield self._about
                yield self._diff
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        """Begin in the list."""
        self._list.focus()

    def on_resize(self) -> None:
        """Put the diff beside the list where there is room, else below it."""
        self.set_class(self.size.width >= WIDE, "-wide")

    @property
    def situation(self) -> Situation:
        """What can be taken back and done again, and what the screen itself refuses."""
        known = Situation(undo=self._actions.can_undo, redo=self._actions.can_redo)
        reveal = "" if self._diff.has_secrets else NO_SECRETS
        own = {"undo": needs_undo(known), "redo": needs_redo(known), "reveal": reveal}
        return replace(
            super().situation, refusals=own | dict(self._refusals), revealed=self._diff.revealed
        )

    def say(self) -> None:
        """Tell the keys that matter here."""
        self._keys.say(*key_line(self.situation, self.keymap))

    def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work`, which may write, once what was begun before is done."""
        # not exclusive: what comes next must not cut off what is being written
        self.run_worker(self._in_turn(work), group="in turn")

    async def _in_turn(self, work: Callable[[], Awaitable[None]]) -> None:
        async with self._one_at_a_time:
            await self._told(work)

    async def _told(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work`; say why where it could not be done."""
        try:
            await work()
        except RicordoError as error:
            self.notify(str(error), severity="error", markup=False, timeout=10)

    # What the screens themselves know

    @property
    @abstractmethod
    def _refusals(self) -> Mapping[str, str]:
        """Why actions cannot be done, by their id."""

    @property
    @abstractmethod
    def _has_diff(self) -> bool:
        """Whether there is something to see at the right."""

    @abstractmethod
    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        """Return the rows of one thing in the list."""

    def _rests(self, number: int) -> bool:
        """Say whether the cursor can rest on one thing in the list."""
        return True

    @abstractmethod
    def _about_lines(self, width: int) -> list[StyledLine]:
        """Return what is known of the thing under the cursor."""

    @abstractmethod
    def _chosen(self) -> None:
        """Show what became of the thing under the cursor."""

    def _scrolled(self) -> None:
        """Something else of the diff is in sight."""

    @abstractmethod
    def _leave(self) -> None:
        """Go one step back from the list."""

    @abstractmethod
    def _reload(self) -> None:
        """Show what is there now."""

    # What the keys do

    def go_back(self) -> None:
        """From the diff to the list, from there a step back."""
        if self._diff.has_focus:
            self._list.focus()
        else:
            self._leave()

    def go_to_list(self) -> None:
        """To the list."""
        self._list.focus()

    def go_to_diff(self) -> None:
        """To the diff."""
        if self._has_diff:
            self._diff.focus()

    def go_to_other_pane(self) -> None:
        """To the other of the two."""
        if self._list.has_focus:
            self.go_to_diff()
        else:
            self.go_to_list()

    def toggle_secrets(self) -> None:
        """The secrets of what is shown, or masked again."""
        self._diff.reveal()

    def toggle_columns(self) -> None:
        """Side by side, or in one column."""
        self._diff.turn()

    def _scroll_page(self, direction: int) -> None:
        height = max(1, self._diff.scrollable_content_region.height - 2)
        self._diff.jump_to(self._diff.scroll_offset.y + direction * height)

    def go_to_end(self) -> None:
        """To the end."""
        self._moved.move_to_end(1)
        if self._diff.has_focus:
            # a long hunk begins far above its end
            self._diff.jump_to(self._diff.line_count)

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._moved),
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
    def _moved(self) -> RowList | MarkedDiff:
        return self._diff if self._diff.has_focus else self._list

    def undo(self) -> None:
        """Take the last act back."""
        self._begin(partial(self._turn, self._actions.undo_last))

    def redo(self) -> None:
        """Do again what was undone last."""
        self._begin(partial(self._turn, self._actions.redo_last))

    async def _turn(self, turn: Turn) -> None:
        await turn()
        self._reload()
