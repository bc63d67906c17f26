"""The real app on a real memory: opened, waited for, read off the screen."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.events import Key, Paste
from textual.keys import _character_to_key
from textual.notifications import Notification, Notifications
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets._toast import ToastRack

from ricordo.agents.agent import MemoryPlace
from ricordo.errors import MemoryNotFound
from ricordo.services.workspace.environment import Environment, load_environment
from ricordo.services.workspace.follower import FollowedSnapshot
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.settings import load_settings, load_themes
from ricordo.tui.actions.registry import list_known_actions
from ricordo.tui.app import RicordoApp
from ricordo.tui.base.action_screen import KEY_DELAY
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.line_view import LineView
from ricordo.tui.widgets.panes import Panes
from tests.support.builders import note_text, write_memory

PATIENCE = 30.0
"""Seconds after which what is waited for will not come."""
STAMP = 1_795_000_000
"""When every file of a built memory was changed: 18 November 2026."""

SMALL: Mapping[str, str] = {
    "MEMORY.md": (
        "# Tidepool\n\n## People\n- [Who Ana is](user_ana.md) — leads harbour software\n"
        "## Project\n- [Tide tables](project_tides.md) — which port they are for\n"
        "- [Cache](project_cache.md) — where tables are kept\n"
        "- [Dredging](reference_dredging.md) — no longer there\n"
    ),
    "user_ana.md": note_text(
        "user-ana",
        "Ana leads harbour software in Genova. See [[project_tides]] and\n"
        "[the cache](project_cache.md#how-to-apply), [nowhere](gone.md),\n"
        "[a page](https://example.org/x).\n",
        "Ana leads harbour software; sails",
        "user",
    ),
    "project_tides.md": note_text(
        "project-tides", "The port is Sines.\n\nTables come from the institute.\n"
    ),
    "project_cache.md": note_text(
        "project-cache",
        "".join(f"Line {n} about the cache of tables.\n\n" for n in range(1, 40))
        + "## How to apply\n\nAsk before the cache is emptied.\n",
        "Where tables are kept",
    ),
    "feedback_units.md": note_text(
        "feedback-units", "Metres, never feet.\n", "Which units to use", "feedback"
    ),
}
"""Five files with a broken index entry and a note that is not in the index."""


def build(folder: Path, files: Mapping[str, str | bytes] | None = None) -> Path:
    """Write a memory to `folder`/tidepool/memory, every file changed at one moment; return it."""
    root = folder / "tidepool" / "memory"
    root.mkdir(parents=True, exist_ok=True)
    write_memory(root, SMALL if files is None else files)
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, (STAMP, STAMP))
    return root


def surroundings_at(cwd: Path) -> Environment:
    """Return the environment of the fixtures, with `cwd` as the current directory."""
    return load_environment(os.environ)._replace(cwd=str(cwd))


def notebook_app(root: Path | None, cwd: Path | None = None) -> RicordoApp:
    """Return the app as `ricordo ROOT` starts it."""
    environment = surroundings_at(cwd or root or Path.cwd())
    settings, remarks = load_settings(environment, list_known_actions())
    themes, _ = load_themes(environment)
    found: Sequence[MemoryPlace] | MemoryNotFound
    try:
        found = find_memories(str(root) if root else None, environment)
    except MemoryNotFound as error:
        found = error
    return RicordoApp(found, environment, settings, remarks, themes)


class Told(Notifications):
    """The toasts of an app, with the text of those that are gone."""

    def __init__(self, app: RicordoApp) -> None:
        super().__init__()
        self.messages: list[str] = []
        for notice in app._notifications:
            self.add(notice)
        app._notifications = self

    def add(self, notification: Notification) -> None:
        self.messages.append(notification.message)
        super().add(notification)

    def clear(self) -> None:
        self.messages.clear()
        super().clear()


class Stage:
    """The app while it runs."""

    def __init__(self, app: RicordoApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot
        self._told = Told(app)

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until the screen has taken them in."""
        for key in keys:
            self._send(key)
            await self.settle()

    async def calm(self) -> None:
        """Wait until the screen on top takes keys that judge or write."""
        opened = self.app.screen.mounted_at  # type: ignore[attr-defined]
        await self.wait_for(lambda: time.monotonic() - opened > KEY_DELAY, "the screen is calm")

    async def confirm(self) -> None:
        """Press ctrl+s once the screen on top takes it."""
        await self.calm()
        await self.press("ctrl+s")

    async def shows(self, kind: type[Screen[Any]]) -> None:
        """Wait until a screen of a kind is on top."""
        await self.wait_for(lambda: isinstance(self.app.screen, kind), kind.__name__)
        await self.settle()

    async def paste(self, text: str) -> None:
        """Paste as a terminal does."""
        self.app.screen.post_message(Paste(text))
        await self.settle()

    async def type_ahead(self, *keys: str) -> None:
        """Press keys faster than the screen can answer."""
        for key in keys:
            self._send(key)
        await self.settle()

    def _send(self, key: str) -> None:
        driver = self.app._driver
        assert driver is not None
        name = _character_to_key(key) if len(key) == 1 else key
        event = Key(name, key if len(key) == 1 else None)
        event.set_sender(self.app)
        driver.send_message(event)

    async def settle(self) -> None:
        """Wait until every part of the screen has handled its messages so far."""
        for _ in range(3):
            await self.pilot._wait_for_screen()
        self.app.screen._on_timer_update()

    async def hush(self) -> None:
        """Take all notices away, also those that a screen below still shows for a while."""
        self.app.clear_notifications()
        for screen in self.app.screen_stack:
            for rack in screen.query(ToastRack):
                rack.show(self.app._notifications)
        await self.settle()

    async def think(self) -> None:
        """Wait until it is shown what the open note reminds of, and counted what is due."""
        await self.wait_for(
            lambda: not any(it.group == "remind" and it.is_running for it in self.app.workers),
            "what it reminds of",
        )
        if any(isinstance(screen, MainScreen) for screen in self.app.screen_stack):
            await self.count()
        await self.settle()

    async def know(self) -> None:
        """Wait until all that can be known of the memory is gathered and shown."""
        notebook, gathering = self.main._notebook, self.main._follower._gathering
        await self.wait_for(
            lambda: (
                gathering.is_idle
                and self.looked
                and self.looked.snapshot.has_evidence
                and self.looked.snapshot.evidence is notebook.evidence
            ),
            "the evidence",
        )
        await self.count()

    async def count(self) -> None:
        """Wait until due notes are counted, for the last snapshot and with arrivals."""
        await self.wait_for(
            lambda: (
                self.main._reviewing._queue is not None
                and not any(it.group == "due" and it.is_running for it in self.app.workers)
            ),
            "what is due",
        )
        await self.settle()

    async def wait_for(self, holds: Callable[[], Any], what: str = "") -> None:
        """Wait until `holds()` is true; where it does not become so, tell what is shown."""
        try:
            await wait_for(holds, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen shows\n{self.painted()}") from None

    async def paints(self, text: str) -> None:
        """Wait until `text` is on the screen, in one row."""
        await self.wait_for(lambda: text in self.painted(), f"{text!r} on the screen")

    async def go_to(self, path: str) -> None:
        """Put the cursor of the index on the note `path`."""
        index = self.panes.index
        await self.press("1")
        number = next(n for n, row in enumerate(index.rows) if row.path == path)
        index.move_to(number)
        await self.wait_for(lambda: self.here == path, f"{path} opened")

    @property
    def main(self) -> MainScreen:
        """The main screen, on top or below another."""
        return next(screen for screen in self.app.screen_stack if isinstance(screen, MainScreen))

    @property
    def panes(self) -> Panes:
        return self.main.query_one(Panes)

    @property
    def here(self) -> str:
        """Path of the open note."""
        return self.main._reading.path

    @property
    def looked(self) -> FollowedSnapshot | None:
        """What was seen last, where the memory could be read and was judged."""
        seen = self.main._seen
        return seen if isinstance(seen, FollowedSnapshot) and seen.snapshot.is_judged else None

    @property
    def note_text(self) -> str:
        return self.panes.note.plain_text

    @property
    def index_text(self) -> str:
        return text_of(self.panes.index)

    @property
    def freshness_text(self) -> str:
        return text_of(self.panes.freshness)

    @property
    def bottom(self) -> str:
        return self.main.query_one("#keys", Bar).text

    @property
    def top(self) -> str:
        return self.main.query_one("#status", Bar).text

    @property
    def toasts(self) -> str:
        """What the notices said since they were cleared: on a slow machine some are gone again."""
        return "\n".join(self._told.messages)

    def painted(self) -> str:
        """All text that is on the screen, row by row."""
        screen = self.app.screen
        return "\n".join(strip.text for strip in screen._compositor.render_strips())


def editor(folder: Path, script: str) -> str:
    """Write a program that is used as an editor, in a folder with a space; `script` is what its
    shell does with "$1".
    """
    program = folder / "my programs" / "editor"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def on_text(view: LineView, column: int, row: int) -> tuple[int, int]:
    """Return where in a view, its frame included, a cell of its text is."""
    left, top = view.gutter.top_left
    return left + column, top + row


def text_of(view: LineView) -> str:
    """Return every line of a view, also those out of sight."""
    return "\n".join(view.line_at(number)[0].text for number in range(view.line_count))


async def wait_for(
    holds: Callable[[], Any], what: str = "", settle: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Wait until `holds()` is true; fail where it does not become so."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what or holds}")
        if settle is not None:
            await settle()
        await asyncio.sleep(0.01)


@asynccontextmanager
async def staged(
    root: Path | None,
    size: tuple[int, int] = (120, 40),
    cwd: Path | None = None,
    *,
    known: bool = True,
) -> AsyncIterator[Stage]:
    """Open the notebook, wait until the memory is read and judged, and what can be known of it is
    `known`; close it at the end.
    """
    app = notebook_app(root, cwd)
    async with on_stage(app, size) as stage:
        if root is not None:
            await stage.wait_for(lambda: isinstance(app.screen, MainScreen), "the main screen")
            await stage.wait_for(lambda: stage.looked, "the first snapshot")
            await stage.wait_for(lambda: stage.main._navigation.is_counted, "the first recording")
            if known:
                await stage.know()
            await stage.settle()
        yield stage


@asynccontextmanager
async def on_stage(app: RicordoApp, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Stage]:
    """Run `app` without a terminal; what it shows in the end can be painted."""
    async with app.run_test(size=size, notifications=True) as pilot:
        stage = Stage(app, pilot)
        yield stage
        stage.painted()


NO_DELAY = -PATIENCE
"""The delay of keys for tests that press them while a screen is still opening."""
