"""The base of screens with actions."""

from __future__ import annotations

import time
from typing import ClassVar, Protocol, TypeVar, cast

from textual.binding import Binding, BindingType
from textual.screen import Screen

from ricordo.settings.keymap import Keymap
from ricordo.text import encodable
from ricordo.tui.actions.handlers import Handlers, check_handlers
from ricordo.tui.actions.registry import BY_ID, actions_on, label_of
from ricordo.tui.color_palette import Palette
from ricordo.tui.context import Scene, Situation
from ricordo.tui.render.mask import MASK

CALM = 0.3
"""Seconds after a screen opens in which keys write nothing: they may have been meant for the
previous screen.
"""

Result = TypeVar("Result")


def bindings_on(scene: Scene) -> list[BindingType]:
    """Return the bindings of `scene`, one for each of its actions."""
    return [
        Binding(action.keys, f"do('{action.id}')", action.label, show=False, id=action.id)
        for action in actions_on(scene)
    ]


class KeyHelp(Protocol):
    """An app that shows the keys of a screen."""

    def show_keys(self, scene: Scene) -> None:
        """Show the keys of `scene`."""


class ActingScreen(Screen[Result]):
    """A screen with a handler for each of its actions."""

    SCENE: ClassVar[Scene]

    def __init__(self, palette: Palette, keymap: Keymap) -> None:
        """`keymap` holds the user's keys by action id."""
        super().__init__()
        self._palette = palette
        self.keymap = keymap
        self.opened = 0.0
        """When it was mounted, on the monotonic clock in seconds; 0 before."""

    def on_mount(self) -> None:
        """Record the time and check the handlers."""
        check_handlers(self.SCENE, self.handlers)
        self.opened = time.monotonic()

    def styles_now(self) -> Palette:
        """Return the styles in use now."""
        return self._palette

    @property
    def situation(self) -> Situation:
        """The context of the actions."""
        return Situation(scene=self.SCENE)

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "help": self.show_help,
            "palette": self.open_palette,
            "quit": self.quit,
        }

    def say(self) -> None:
        """Update the bars."""

    def copy_text(self, text: str) -> None:
        """Copy `text` to the clipboard and report it; "" reports that there is nothing to copy."""
        if text:
            self.app.copy_to_clipboard(encodable(text))
        message = f"Copied {len(text):,} characters." if text else "Nothing to copy here."
        if MASK in text:
            key = label_of(BY_ID["reveal"], self.keymap)
            message += f" Secrets are masked; {key} reveals them first."
        self.notify(message, markup=False, timeout=4 if MASK in text else 2)

    def action_do(self, action_id: str) -> None:
        """Call the handler of an action, or show why the action is disabled."""
        action = BY_ID[action_id]
        if action.waits and time.monotonic() - self.opened < CALM:
            return
        if reason := action.refused(self.situation):
            self.notify(reason, markup=False, timeout=3)
            return
        self.handlers[action_id]()
        self.say()

    def repaint(self, palette: Palette) -> None:
        """Use the styles of another theme; the widgets repaint themselves."""
        self._palette = palette

    def show_help(self) -> None:
        """Show the keys of this screen."""
        cast(KeyHelp, self.app).show_keys(self.SCENE)

    def open_palette(self) -> None:
        """Open the command palette."""
        self.app.action_command_palette()

    def quit(self) -> None:
        """Quit Ricordo."""
        self.app.exit()


LOW = [(0, "-low"), (30, "-high")]
"""Classes of a screen by its rows, for Textual's `VERTICAL_BREAKPOINTS`."""
