"""The base of screens with actions."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar, cast

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ricordo.errors import RicordoError
from ricordo.settings.keymap import NO_KEY, Keymap
from ricordo.text import make_encodable
from ricordo.tui.actions.bindings import Handlers, check_handlers
from ricordo.tui.actions.registry import BY_ID, find_actions, format_action_keys
from ricordo.tui.color_palette import Palette
from ricordo.tui.context import ActionContext, ScreenId, needs_redo, needs_undo
from ricordo.tui.render.mask import MASK
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet
    from ricordo.services.workspace.follower import Follower
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.storage.writer import Applied
    from ricordo.tui.base.open_note import OpenNote

KEY_DELAY = 0.3
"""Seconds after a screen opens in which keys write nothing: they may have been meant for the
previous screen.
"""

Result = TypeVar("Result")


class KeyHelp(Protocol):
    """An app that shows the keys of a screen, and knows when the last one was pressed."""

    last_input_at: float
    """On the monotonic clock, in seconds."""

    def show_keys(self, screen_id: ScreenId) -> None:
        """Show the keys of `screen_id`."""


def is_early(app: App[Any], opened_at: float) -> bool:
    """Return whether the last input was made before a user could have seen what opened at that
    time. What counts is when a key was pressed: a slow machine handles it much later.
    """
    return cast(KeyHelp, app).last_input_at - opened_at < KEY_DELAY


class ActionScreen(Screen[Result]):
    """A screen with a key and a handler for each of its actions."""

    SCREEN_ID: ClassVar[ScreenId]

    def __init_subclass__(cls, **options: bool) -> None:
        """Bind the keys of the actions of the screen, besides those that it binds itself."""
        if "SCREEN_ID" in vars(cls):
            actions: list[BindingType] = [
                Binding(it.keys or NO_KEY, f"do('{it.id}')", it.label, show=False, id=it.id)
                for it in find_actions(cls.SCREEN_ID)
            ]
            cls.BINDINGS = [*actions, *vars(cls).get("BINDINGS", ())]
        super().__init_subclass__(**options)

    def __init__(self, palette: Palette, keymap: Keymap) -> None:
        """`keymap` holds the user's keys by action id."""
        super().__init__()
        self._palette = palette
        self.keymap = keymap
        self._one_at_a_time = asyncio.Lock()
        self.mounted_at = 0.0
        """When it was mounted, on the monotonic clock in seconds; 0 before."""

    def on_mount(self) -> None:
        """Record the time and check the handlers."""
        check_handlers(self.SCREEN_ID, self.handlers)
        self.mounted_at = time.monotonic()

    def current_palette(self) -> Palette:
        """Return the styles in use now."""
        return self._palette

    @property
    def action_context(self) -> ActionContext:
        """The context of the actions."""
        return ActionContext(screen_id=self.SCREEN_ID)

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "help": partial(cast(KeyHelp, self.app).show_keys, self.SCREEN_ID),
            "palette": self.app.action_command_palette,
            "quit": self.app.exit,
            "leave": self.close,
        }

    def update_bars(self) -> None:
        """Update the bars."""

    def copy_text(self, text: str) -> None:
        """Copy `text` to the clipboard and report it; "" reports that there is nothing to copy."""
        if text:
            self.app.copy_to_clipboard(make_encodable(text))
        message = f"Copied {len(text):,} characters." if text else "Nothing to copy here."
        if MASK in text:
            key = format_action_keys(BY_ID["reveal"], self.keymap)
            message += f" Secrets are masked; {key} reveals them first."
        self.notify(message, markup=False, timeout=4 if MASK in text else 2)

    def action_do(self, action_id: str) -> None:
        """Call the handler of an action, or show why the action is disabled."""
        action = BY_ID[action_id]
        if action.is_delayed and is_early(self.app, self.mounted_at):
            return
        if reason := action.find_disabled_reason(self.action_context):
            self.notify(reason, markup=False, timeout=3)
            return
        self.handlers[action_id]()
        self.update_bars()

    def repaint(self, palette: Palette) -> None:
        """Use the styles of another theme; the widgets repaint themselves."""
        self._palette = palette

    def close(self) -> None:
        """Close the screen without a result."""
        self.dismiss(None)

    def _begin(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do `work`, which may write, after all earlier work."""
        # not exclusive: later work must not cancel a write
        start_worker(self, partial(self._run_in_turn, work), group="in turn")

    async def _run_in_turn(self, work: Callable[[], Awaitable[object]]) -> None:
        async with self._one_at_a_time:
            await self._run_reporting(work)

    async def _run_reporting(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do `work`; report its error, if any."""
        try:
            await work()
        except RicordoError as error:
            self._report_error(error)

    def _report_error(self, error: RicordoError) -> None:
        self.notify(str(error), severity="error", markup=False, timeout=10)


class NotebookActions(Protocol):
    """What the notebook does for other screens: it writes, and reports what fails. `NoteActions`
    of `tui/main` does it, with `ChangeWriter` of `tui/edits`.
    """

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

    async def edit_text(self, name: str, text: str, use: Callable[[str], Awaitable[None]]) -> None:
        """Open a text in the user's editor as a file called `name`, and pass the saved text to
        `use` if it changed. Raises RicordoError; no text is lost.
        """

    async def retire_note(self, path: str) -> bool:
        """Propose to retire a note, and do it where the user approves; return whether it was
        retired.
        """

    async def undo_last(self) -> frozenset[str]:
        """Undo the last change; return what it was about, such as paths of notes."""

    async def redo_last(self) -> frozenset[str]:
        """Redo what was undone last; return what it was about, such as paths of notes."""

    def update_history(self) -> None:
        """Find out again what can be undone and redone."""


class NotebookParts(NamedTuple):
    """What the handlers of the notebook's keys share."""

    screen: ActionScreen[Any]
    notebook: Notebook
    """Belongs to the follower: it is used in its threads."""
    follower: Follower
    reading: OpenNote
    actions: NotebookActions


class NotebookController:
    """Handles a group of keys of the notebook."""

    def __init__(self, parts: NotebookParts, changed: Callable[[], None]) -> None:
        """`changed` is called when the number on one of the keys changed."""
        self._screen, self._follower, self._reading = parts.screen, parts.follower, parts.reading
        # another notebook for the screens and threads of these keys
        self._notebook = parts.notebook.copy()
        self._actions = parts.actions
        self._on_changed = changed


class UndoScreen(ActionScreen[None]):
    """A screen that undoes and redoes changes of the memory."""

    def __init__(self, palette: Palette, keymap: Keymap, actions: NotebookActions) -> None:
        super().__init__(palette, keymap)
        self._actions = actions

    @property
    def _undo_refusals(self) -> dict[str, str]:
        """Why undo and redo are disabled, by action id."""
        context = ActionContext(undo=self._actions.can_undo, redo=self._actions.can_redo)
        return {"undo": needs_undo(context), "redo": needs_redo(context)}

    @property
    def handlers(self) -> Handlers:
        return {**super().handlers, "undo": self.undo, "redo": self.redo}

    def undo(self) -> None:
        """Undo the last change."""
        self._begin(partial(self._turn, self._actions.undo_last))

    def redo(self) -> None:
        """Redo what was undone last."""
        self._begin(partial(self._turn, self._actions.redo_last))

    @abstractmethod
    async def _turn(self, turn: UndoAction) -> None:
        """Call `turn`, and show what it changed."""


UndoAction = Callable[[], Awaitable[frozenset[str]]]
"""Undoes or redoes the last change; returns what it was about, such as paths of notes."""


HEIGHT_BREAKPOINTS = [(0, "-low"), (30, "-high")]
"""Classes of a screen by its rows, for Textual's `VERTICAL_BREAKPOINTS`."""
