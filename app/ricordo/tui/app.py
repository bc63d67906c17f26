"""The notebook: wiring of screens, themes, keys and signals."""

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
from textual.events import Key
from textual.filter import LineFilter
from textual.worker import WorkerFailed

from ricordo.agents.place import MemoryPlace
from ricordo.errors import MemoryNotFound
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import all_memories, clear_choice, find_memories
from ricordo.services.workspace.settings import load_settings, load_themes
from ricordo.settings.keymap import Keymap, textual_keymap
from ricordo.settings.settings import DEFAULT_THEME, Settings
from ricordo.settings.source import SettingsWarning
from ricordo.settings.theme import ThemeColors
from ricordo.text import one_line
from ricordo.tui.actions.bindings import is_bound
from ricordo.tui.actions.registry import BY_ID, known_actions
from ricordo.tui.color_palette import Palette, textual_theme
from ricordo.tui.command_palette import CommandProvider
from ricordo.tui.context import Scene
from ricordo.tui.dialogs.memories import MemoriesScreen, NothingScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.messages import MemoriesRequested, NoteRequested


class NoControl(LineFilter):
    """Makes controls in drawn text visible."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return `segments` with every control character made visible."""
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [
            segment
            if segment.text.isprintable()
            else Segment(one_line(segment.text), segment.style, segment.control)
            for segment in segments
        ]


_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PATIENCE = 5.0
"""Seconds for which an orderly end may take. A terminal that is gone, or that nobody reads, takes
nothing more: what paints then waits for ever, and with it all that the loop of events would do.
"""


class SignalHandler:
    """Ends the process at the first of the signals that ask for it."""

    def __init__(self, end: Callable[[int], None]) -> None:
        """`end` leaves in order; it is called by the loop of events, with the exit code."""
        self._end = end
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[signal.Signals, Any] = {}

    def watch(self) -> None:
        """Begin to listen; called in the thread and the loop of the screen."""
        self._loop = asyncio.get_running_loop()
        # the loop's own handlers would not run while a paint keeps the loop waiting
        self._before = {number: signal.signal(number, self._asked) for number in _SIGNALS}

    def unwatch(self) -> None:
        """Leave the signals as they were."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _asked(self, number: int, frame: FrameType | None) -> None:
        # what was written is whole or not there, whenever the process ends
        at_last = threading.Timer(_PATIENCE, os._exit, (128 + number,))
        at_last.daemon = True
        at_last.start()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._end, 128 + number)


def start(path: str | None, surroundings: Environment, *, opens_review: bool = False) -> int:
    """Open the memory that `path` means on the terminal, and stay until the person leaves.

    With `opens_review` it begins with the review of the day. Returns the exit code. Raises
    MemoryNotFound where a named path is no memory.
    """
    # what is loaded until the first paint stays: collecting garbage among it only takes time
    gc.disable()
    settings, remarks = load_settings(surroundings, known_actions())
    themes, _ = load_themes(surroundings)
    try:
        found = find_memories(path, surroundings)
    except MemoryNotFound as error:
        if path is not None:
            raise
        app = RicordoApp(error, surroundings, settings, remarks, themes)
    else:
        app = RicordoApp(found, surroundings, settings, remarks, themes, opens_review=opens_review)
    app.run()
    # what ends is not searched for garbage, which would take longer than all the rest of leaving
    gc.disable()
    gc.freeze()
    if app.return_value == DEMO_WANTED:
        return _demo(surroundings)
    if app.last_words:
        print(app.last_words, file=sys.stderr)
        return CRASHED
    return app.return_value or 0


def _demo(surroundings: Environment) -> int:
    from ricordo.services.workspace.sample import copied_sample

    with copied_sample(surroundings) as sample:
        print(f"A throwaway copy of the sample memory: {sample.memory}", file=sys.stderr)
        return start(sample.memory, sample.surroundings)


_CRASH_LOG = "crash.log"


class RicordoApp(App[int]):
    """Opens one memory after the other."""

    TITLE = "Ricordo"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {CommandProvider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(BY_ID[id].keys, action, show=False, priority=True, id=id)
        for id, action in (("palette", "command_palette"), ("quit", "quit"))
    ]
    ENABLE_COMMAND_PALETTE = True
    PAUSE_GC_ON_SCROLL = True

    def __init__(
        self,
        found: Sequence[MemoryPlace] | MemoryNotFound,
        surroundings: Environment,
        settings: Settings,
        remarks: Sequence[SettingsWarning],
        themes: Mapping[str, ThemeColors],
        *,
        opens_review: bool = False,
    ) -> None:
        """`found` are the memories that fit, most likely first, or why there is none; `remarks`
        are what could not be used of the settings. With `opens_review` the first memory that is
        opened begins with its review.
        """
        super().__init__()
        self.last_words = ""
        """What is to be said on the restored terminal."""
        # a private name of Textual, and the only place through which every drawn line passes
        self._filters.append(NoControl())
        self._ending = SignalHandler(self.exit)
        self._found = found
        self._surroundings = surroundings
        self._settings = settings
        self._remarks = remarks
        self._themes = themes
        self._opens_review = opens_review
        for colors in themes.values():
            self.register_theme(textual_theme(colors))
        self.theme = settings.theme if settings.theme in themes else DEFAULT_THEME
        self.set_keymap(textual_keymap(settings.keymap))

    @property
    def ricordo_themes(self) -> Mapping[str, ThemeColors]:
        """The themes that a person can choose from."""
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
        """Open what was found, or say what to do next."""
        self.call_after_refresh(_collect_garbage_again)
        self._ending.watch()
        self.theme_changed_signal.subscribe(self, self._repaint)
        if isinstance(self._found, MemoryNotFound):
            self._say_nothing_was_found(self._found)
        elif place := clear_choice(self._found):
            self._open(place)
        else:
            self._choose(self._found)
        for remark in self._remarks:
            self.notify(str(remark), severity="warning", markup=False, timeout=15)

    def on_unmount(self) -> None:
        """Leave the signals to whoever comes next."""
        self._ending.unwatch()

    def _open(self, place: MemoryPlace, note: str = "", line: int = 0) -> None:
        notebook = Notebook(place, self._surroundings, self._settings)
        screen = MainScreen(notebook, self.palette, note, line, opens_review=self._opens_review)
        self._opens_review = False
        if len(self.screen_stack) > 1:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def _choose(self, places: Sequence[MemoryPlace]) -> None:
        home, keymap = self._surroundings.agent_home, self._settings.keymap
        self.push_screen(MemoriesScreen(places, self.palette, keymap, home), self._chosen)

    def _chosen(self, place: MemoryPlace | None) -> None:
        if place is not None:
            self._open(place)
        elif len(self.screen_stack) <= 1:
            self.exit(0)

    def _say_nothing_was_found(self, error: MemoryNotFound) -> None:
        self.push_screen(NothingScreen(error, self.palette), self._answered)

    def _answered(self, demo: bool | None) -> None:
        self.exit(DEMO_WANTED if demo else 0)

    def on_key(self, event: Key) -> None:
        """Give what is typed ahead to the line that was just opened for it."""
        if isinstance(self.screen, MainScreen) and self.screen.typed_ahead(event):
            event.prevent_default()

    def on_memories_requested(self, message: MemoriesRequested) -> None:
        """Offer every memory of this machine."""
        self.run_worker(self._offer_all())

    def on_note_requested(self, message: NoteRequested) -> None:
        """Open the memory that has the note, and the note."""
        self._open(message.place, message.path, message.line)

    async def _offer_all(self) -> None:
        asked_on = self.screen
        places = await asyncio.to_thread(all_memories, self._surroundings)
        if self.screen is not asked_on:
            return
        here = asked_on.root if isinstance(asked_on, MainScreen) else ""
        if any(place.root != here for place in places):
            self._choose(places)
        else:
            self.notify("No other memory was found on this machine.", markup=False)

    def _repaint(self, theme: object) -> None:
        for screen in self.screen_stack:
            for node in screen.walk_children(with_self=True):
                if isinstance(node, Painted):
                    node.repaint(self.palette)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the key of the palette to a screen in which it goes to the previous hit."""
        return action != "command_palette" or not is_bound(type(self.screen), "previous-hit")

    def show_keys(self, scene: Scene) -> None:
        """Show the keys of a screen."""
        from ricordo.tui.dialogs.help import HelpScreen

        self.push_screen(HelpScreen(self.palette, self.keymap, scene))

    def action_command_palette(self) -> None:
        """Open the palette, once."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette())

    def _fatal_error(self) -> None:
        """End on an error of our own: without values of variables, which may be secrets."""
        error: BaseException | None = self._exception
        if isinstance(error, WorkerFailed):
            error = error.error
        kind = type(error).__name__
        path = os.path.join(self._surroundings.state, _CRASH_LOG)
        kept = error is not None and _keep_crash(path, error)
        where = f" Where it happened is in {one_line(path)}." if kept else ""
        self.last_words = (
            f"ricordo: internal error ({kind}); this is a bug, please report it.{where}"
            " Changes that were written stay, and can be undone."
        )
        self._close_messages_no_wait()

    def panic(self, *renderables: object) -> None:
        """End likewise on an error that can draw itself: it would draw what it was made from."""
        self._fatal_error()


_THRESHOLDS = 2_000, 20, 10
"""Of the garbage collector. A key makes thousands of values, nearly all of which are gone with the
next one: with the thresholds of Python a sixth of its time would go into going through them.
"""


def _collect_garbage_again() -> None:
    """Turn the collector on, and leave what is loaded by now out of its way for good."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()


DEMO_WANTED = -1
"""What the app ends with when the person asked for the demo."""
CRASHED = 3
"""The exit code after an error of our own."""


@runtime_checkable
class Painted(Protocol):
    """What draws with a palette."""

    def repaint(self, palette: Palette) -> None:
        """Draw anew with the styles of `palette`."""


def _keep_crash(path: str, error: BaseException) -> bool:
    """Write the frames of `error` to `path`: files, lines and functions, no values, no text."""
    frames = traceback.extract_tb(error.__traceback__)
    rows = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    try:
        from ricordo.storage.state_file import replace_state_file

        content = "\n".join([type(error).__name__, *rows, ""]).encode("utf-8", "replace")
        replace_state_file(os.path.dirname(path), os.path.basename(path), content)
    except OSError:
        return False
    return True
