"""The base of screens with actions."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Protocol, TypeVar, cast

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ricordo.settings.keymap import NO_KEY, Keymap
from ricordo.text import make_encodable
from ricordo.tui.actions.bindings import Handlers, check_handlers
from ricordo.tui.actions.registry import BY_ID, find_actions, format_action_keys
from ricordo.tui.color_palette import Palette
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.render.mask import MASK

KEY_DELAY = 0.3
"""Seconds after a screen opens in which keys write nothing: they may have been meant for the
previous screen.
"""

Result = TypeVar("Result")


def make_bindings(scene: ScreenId) -> list[BindingType]:
    """Return the bindings of `scene`, one for each of its actions."""
    return [
        Binding(action.keys or NO_KEY, f"do('{action.id}')", action.label, show=False, id=action.id)
        for action in find_actions(scene)
    ]


class KeyHelp(Protocol):
    """An app that shows the keys of a screen, and knows when the last one was pressed."""

    last_input_at: float
    """On the monotonic clock, in seconds."""

    def show_keys(self, scene: ScreenId) -> None:
        """Show the keys of `scene`."""


def is_early(app: App[Any], opened_at: float) -> bool:
    """Return whether the last input was made before a user could have seen what opened at that
    time. What counts is when a key was pressed: a slow machine handles it much later.
    """
    return cast(KeyHelp, app).last_input_at - opened_at < KEY_DELAY


class ActionScreen(Screen[Result]):
    """A screen with a handler for each of its actions."""

    SCREEN_ID: ClassVar[ScreenId]

    def __init__(self, palette: Palette, keymap: Keymap) -> None:
        """`keymap` holds the user's keys by action id."""
        super().__init__()
        self._palette = palette
        self.keymap = keymap
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
            "help": self.show_help,
            "palette": self.open_palette,
            "quit": self.quit,
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

    def show_help(self) -> None:
        """Show the keys of this screen."""
        cast(KeyHelp, self.app).show_keys(self.SCREEN_ID)

    def open_palette(self) -> None:
        """Open the command palette."""
        self.app.action_command_palette()

    def quit(self) -> None:
        """Quit Ricordo."""
        self.app.exit()


HEIGHT_BREAKPOINTS = [(0, "-low"), (30, "-high")]
"""Classes of a screen by its rows, for Textual's `VERTICAL_BREAKPOINTS`."""
