"""What would make a screen vary or a test slow: blinking, colours of the terminal, painting; and
threads that answer late, as on a slow machine.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from textual._compositor import Compositor
from textual._styles_cache import StylesCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

from tests.support.figures import figure

LATE = figure("late_ms", everyday=0) / 1_000
"""Seconds for which a thread waits at most, before what it does and after."""


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the screen still, and in the colours of the theme."""
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none", raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    for name in ("NO_COLOR", "COLORTERM", "TEXTUAL", "TEXTUAL_THEME", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("ricordo.tui.widgets.find_bar.FindBar.cursor_blink", False, raising=False)
    monkeypatch.setattr("ricordo.tui.dialogs.form.FormInput.cursor_blink", False, raising=False)


@pytest.fixture(autouse=True)
def painted_when_looked_at(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paint only what a test looks at, for nobody sees the rest: it took half of the time.

    The mark `painted` asks for every paint.
    """
    paint = Compositor.render_update

    def render_update(
        compositor: Compositor,
        full: bool = False,
        screen_stack: list[Screen[object]] | None = None,
        simplify: bool = False,
    ) -> object:
        if full:
            return paint(compositor, full, screen_stack, simplify)
        compositor._dirty_regions.clear()
        return None

    if request.node.get_closest_marker("painted") is None:
        monkeypatch.setattr(Compositor, "render_update", render_update)


@pytest.fixture(scope="session")
def parsed_styles() -> dict[object, list[RuleSet]]:
    """Return the rules of every style sheet that was parsed, by its text and variables."""
    return {}


@pytest.fixture(autouse=True)
def styles_parsed_once(
    parsed_styles: dict[object, list[RuleSet]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parse each style sheet once for all apps: one app parses all of them at every new screen."""
    parse = Stylesheet._parse_rules

    def parse_once(sheet: Stylesheet, css: str, **options: Any) -> list[RuleSet]:
        key = css, frozenset(options.items()), frozenset(sheet._variables.items())
        if key not in parsed_styles:
            parsed_styles[key] = parse(sheet, css, **options)
        return parsed_styles[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", parse_once)


@pytest.fixture(autouse=True)
def painted_lines_forgotten() -> Iterator[None]:
    """Forget the lines that an app painted once it is closed: Textual keeps those of 1024 widgets,
    which made every process that tests fork, and each garbage collection, slow.
    """
    yield
    StylesCache.get_inner_outer.cache_clear()


@pytest.fixture(autouse=True)
def late_threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads answer late: a test that looks before the screen can know fails by it."""
    if not LATE:
        return
    draw = random.Random(request.node.nodeid)
    run = asyncio.BaseEventLoop.run_in_executor

    def run_late(
        loop: asyncio.BaseEventLoop, executor: None, work: Callable[..., object], *args: object
    ) -> asyncio.Future[object]:
        before, after = draw.uniform(0, LATE), draw.uniform(0, LATE)

        def late() -> object:
            time.sleep(before)
            try:
                return work(*args)
            finally:
                time.sleep(after)

        return run(loop, executor, late)

    monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", run_late)
