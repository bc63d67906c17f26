"""The Textual app: wires screens, themes, keys and signals."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, ClassVar, Protocol, runtime_checkable

from rich.segment import Segment
from textual.app import App
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.command import CommandPalette, Provider
from textual.events import Event, InputEvent, Key
from textual.filter import LineFilter
from textual.worker import WorkerFailed

from ricordo.agents.agent import MemoryPlace
from ricordo.errors import MemoryNotFound
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_all_memories, find_clear_choice, find_memories
from ricordo.services.workspace.settings import load_settings, load_themes
from ricordo.settings.keymap import Keymap, make_textual_keymap
from ricordo.settings.settings import DEFAULT_THEME, Settings
from ricordo.settings.source import SettingsWarning
from ricordo.settings.theme import ThemeColors
from ricordo.text import make_one_line
from ricordo.tui.actions.action import Action
from ricordo.tui.actions.bindings import is_bound
from ricordo.tui.actions.registry import BY_ID, find_actions, list_known_actions
from ricordo.tui.color_palette import Palette, make_textual_theme
from ricordo.tui.command_palette import CommandProvider
from ricordo.tui.context import ScreenId
from ricordo.tui.dialogs.memories import MemoriesScreen, NoMemoryScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.messages import MemoriesRequested, NoteRequested
from ricordo.tui.workers import start_worker


class ControlCharacterFilter(LineFilter):
    """Makes control characters in drawn text visible."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return `segments` with every control character made visible."""
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [
            segment
            if segment.text.isprintable()
            else Segment(make_one_line(segment.text), segment.style, segment.control)
            for segment in segments
        ]


_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PATIENCE = 5.0
"""Seconds that an orderly end may take. Painting on a terminal that is gone, or that nobody reads,
blocks for ever, and the event loop with it.
"""


class SignalHandler:
    """Ends the process at the first signal that asks for it."""

    def __init__(self, end: Callable[[int], None]) -> None:
        """`end` closes the app; the event loop calls it with the exit code."""
        self._end = end
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[signal.Signals, Any] = {}

    def watch(self) -> None:
        """Install the handlers; called in the thread and the event loop of the app."""
        self._loop = asyncio.get_running_loop()
        # handlers of the event loop would not run while painting blocks it
        self._before = {number: signal.signal(number, self._handle_signal) for number in _SIGNALS}

    def unwatch(self) -> None:
        """Restore the previous handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        # every write is complete or absent, whenever the process ends
        at_last = threading.Timer(_PATIENCE, os._exit, (128 + number,))
        at_last.daemon = True
        at_last.start()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._end, 128 + number)


def run_app(path: str | None, environment: Environment, *, opens_review: bool = False) -> int:
    """Run the app on the memory at `path`; None finds one. Return the exit code.

    With `opens_review` it begins with the review of the day. Raises MemoryNotFound where `path`
    is not a memory.
    """
    # what is loaded before the first paint stays: garbage collection only takes time
    gc.disable()
    settings, remarks = load_settings(environment, list_known_actions())
    themes, _ = load_themes(environment)
    try:
        found = find_memories(path, environment)
    except MemoryNotFound as error:
        if path is not None:
            raise
        app = RicordoApp(error, environment, settings, remarks, themes)
    else:
        app = RicordoApp(found, environment, settings, remarks, themes, opens_review=opens_review)
    app.run()
    # no garbage collection on exit: it would take longer than the rest of closing
    gc.disable()
    gc.freeze()
    if app.return_value == DEMO_WANTED:
        return _demo(environment)
    if app.last_words:
        print(app.last_words, file=sys.stderr)
        return CRASHED
    return app.return_value or 0


def _demo(environment: Environment) -> int:
    from ricordo.services.workspace.environment import copy_sample

    with copy_sample(environment) as sample:
        print(f"A throwaway copy of the sample memory: {sample.memory}", file=sys.stderr)
        return run_app(sample.memory, sample.environment)


_CRASH_LOG = "crash.log"


class RicordoApp(App[int]):
    """The app: opens one memory at a time."""

    TITLE = "Ricordo"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {CommandProvider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(BY_ID[id].keys, action, show=False, priority=True, id=id)
        for id, action in (("palette", "command_palette"), ("quit", "quit"))
    ]
    ENABLE_COMMAND_PALETTE = True
    PAUSE_GC_ON_SCROLL = True
    # a message is as small as its text, and covers no key line
    CSS = """
    ToastRack { margin-bottom: 2; overflow-y: hidden; }
    Toast { width: auto; max-width: 90%; padding: 0 1; margin-top: 0; }
    """

    def __init__(
        self,
        found: Sequence[MemoryPlace] | MemoryNotFound,
        environment: Environment,
        settings: Settings,
        remarks: Sequence[SettingsWarning],
        themes: Mapping[str, ThemeColors],
        *,
        opens_review: bool = False,
    ) -> None:
        """`found` are the memories that fit, most likely first, or why there is none; `remarks`
        are warnings about the settings. With `opens_review` the first memory that is opened begins
        with its review.
        """
        super().__init__()
        self.last_words = ""
        """The message to print on the restored terminal."""
        self.last_input_at = 0.0
        """When a key was last pressed, on the monotonic clock in seconds."""
        # private in Textual, but the only place that every drawn line passes
        self._filters.append(ControlCharacterFilter())
        self._ending = SignalHandler(self.exit)
        self._found = found
        self._environment = environment
        self._settings = settings
        self._remarks = remarks
        self._themes = themes
        self._opens_review = opens_review
        for colors in themes.values():
            self.register_theme(make_textual_theme(colors))
        self.theme = settings.theme if settings.theme in themes else DEFAULT_THEME
        self.set_keymap(make_textual_keymap(settings.keymap))

    @property
    def ricordo_themes(self) -> Mapping[str, ThemeColors]:
        """The themes to choose from, by name."""
        return self._themes

    @property
    def keymap(self) -> Keymap:
        """The user's own keys by action id."""
        return self._settings.keymap

    @property
    def palette(self) -> Palette:
        """The styles of the theme in use."""
        return Palette(self._themes.get(self.theme) or self._themes[DEFAULT_THEME])

    def on_mount(self) -> None:
        self.call_after_refresh(_enable_garbage_collection)
        self._ending.watch()
        self.theme_changed_signal.subscribe(self, self._repaint)
        if isinstance(self._found, MemoryNotFound):
            self._show_nothing_found(self._found)
        elif place := find_clear_choice(self._found):
            self._open(place)
        else:
            self._choose(self._found)
        for remark in self._remarks:
            self.notify(str(remark), severity="warning", markup=False, timeout=15)

    def on_unmount(self) -> None:
        self._ending.unwatch()

    def _open(self, place: MemoryPlace, note: str = "", line: int = 0) -> None:
        notebook = Notebook(place, self._environment, self._settings)
        screen = MainScreen(notebook, self.palette, note, line, opens_review=self._opens_review)
        self._opens_review = False
        if len(self.screen_stack) > 1:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def _choose(self, places: Sequence[MemoryPlace]) -> None:
        home, keymap = self._environment.agent_home, self._settings.keymap
        self.push_screen(MemoriesScreen(places, self.palette, keymap, home), self._open_chosen)

    def _open_chosen(self, place: MemoryPlace | None) -> None:
        if place is not None:
            self._open(place)
        elif len(self.screen_stack) <= 1:
            self.exit(0)

    def _show_nothing_found(self, error: MemoryNotFound) -> None:
        self.push_screen(NoMemoryScreen(error, self.palette), self._close_nothing_found)

    def _close_nothing_found(self, demo: bool | None) -> None:
        self.exit(DEMO_WANTED if demo else 0)

    async def on_event(self, event: Event) -> None:
        """Record when the user pressed a key or clicked, then handle the event."""
        if isinstance(event, InputEvent):
            self.last_input_at = event.time
        await super().on_event(event)

    def on_key(self, event: Key) -> None:
        """Pass typed-ahead keys to the find bar that was just opened."""
        if isinstance(self.screen, MainScreen) and self.screen.take_typed_ahead(event):
            event.prevent_default()

    def on_memories_requested(self, message: MemoriesRequested) -> None:
        """Offer every memory of this machine."""
        start_worker(self, self._offer_all_memories)

    def on_note_requested(self, message: NoteRequested) -> None:
        """Open the note in its memory."""
        self._open(message.place, message.path, message.line)

    async def _offer_all_memories(self) -> None:
        requesting_screen = self.screen
        places = await asyncio.to_thread(find_all_memories, self._environment)
        if self.screen is not requesting_screen:
            return
        here = requesting_screen.root if isinstance(requesting_screen, MainScreen) else ""
        if any(place.root != here for place in places):
            self._choose(places)
        else:
            self.notify("No other memory found on this machine.", markup=False)

    def _repaint(self, theme: object) -> None:
        for screen in self.screen_stack:
            for node in screen.walk_children(with_self=True):
                if isinstance(node, Painted):
                    node.repaint(self.palette)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the key of the palette to a screen in which it goes to the previous hit."""
        return action != "command_palette" or not is_bound(type(self.screen), "previous-hit")

    def show_keys(self, screen_id: ScreenId) -> None:
        """Show the keys of a screen."""
        self._show_actions(find_actions(screen_id), screen_id)

    def action_show_keys(self) -> None:
        """Show the keys that are bound now, as in a dialog."""
        ids = {active.binding.id for active in self.screen.active_bindings.values()}
        self._show_actions([action for id, action in BY_ID.items() if id in ids])

    def _show_actions(self, actions: Sequence[Action], screen_id: ScreenId | None = None) -> None:
        from ricordo.tui.dialogs.text_page import HelpScreen

        self.push_screen(HelpScreen(self.palette, self.keymap, actions, screen_id))

    def action_command_palette(self) -> None:
        """Open the palette, once."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette())

    def _fatal_error(self) -> None:
        """End after an internal error, without values of variables: they may be secrets."""
        error: BaseException | None = self._exception
        if isinstance(error, WorkerFailed):
            error = error.error
        kind = type(error).__name__
        path = os.path.join(self._environment.state, _CRASH_LOG)
        is_logged = error is not None and _write_crash_log(path, error)
        where = f" The crash log is {make_one_line(path)}." if is_logged else ""
        self.last_words = (
            f"ricordo: internal error ({kind}); this is a bug, please report it.{where}"
            " Written changes are kept and can be undone."
        )
        self._close_messages_no_wait()

    def panic(self, *renderables: object) -> None:
        """End the same way on an error that can draw itself: it would draw its values."""
        self._fatal_error()


_THRESHOLDS = 2_000, 20, 10
"""Of the garbage collector. A key press makes thousands of short-lived values: with Python's own
thresholds, a sixth of the time would go into collecting them.
"""


def _enable_garbage_collection() -> None:
    """Turn the garbage collector on, and exempt everything that is loaded by now."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()


DEMO_WANTED = -1
"""The return value of the app when the user asked for the demo."""
CRASHED = 70
"""The exit code after an internal error."""


@runtime_checkable
class Painted(Protocol):
    """A node that draws with a palette."""

    def repaint(self, palette: Palette) -> None:
        """Draw again with the styles of `palette`."""


def _write_crash_log(path: str, error: BaseException) -> bool:
    """Write the frames of `error` to `path`: files, lines and functions, no values. Return whether
    it was written.
    """
    frames = traceback.extract_tb(error.__traceback__)
    rows = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    try:
        from ricordo.storage.state_file import replace_state_file

        content = "\n".join([type(error).__name__, *rows, ""]).encode("utf-8", "replace")
        replace_state_file(os.path.dirname(path), os.path.basename(path), content)
    except OSError:
        return False
    return True
