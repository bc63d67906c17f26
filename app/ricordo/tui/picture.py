"""A picture of the notebook, drawn by itself.

`python -m ricordo.tui.picture > docs/ricordo.svg` opens the sample memory and prints what is then
on the screen.
"""

from __future__ import annotations

import asyncio
import os

from ricordo.notebook.find import find_memories
from ricordo.notebook.sample import copied_sample
from ricordo.notebook.settle import load_settings, load_themes
from ricordo.notebook.surroundings import Surroundings, look_around
from ricordo.tui.actions.registry import known_actions
from ricordo.tui.app import RicordoApp
from ricordo.tui.screens.main import MainScreen

_SIZE = (120, 36)
_NOW = "2026-11-20T09:00:00+00:00"
_KEYS = ("down",) * 12


async def picture(surroundings: Surroundings) -> str:
    """Return the main screen on the sample memory as SVG."""
    with copied_sample(surroundings) as sample:
        settings, _ = load_settings(sample.surroundings, known_actions())
        themes, _ = load_themes(sample.surroundings)
        found = find_memories(sample.memory, sample.surroundings)
        app = RicordoApp(found, sample.surroundings, settings, (), themes)
        async with app.run_test(size=_SIZE) as pilot:
            while not (isinstance(app.screen, MainScreen) and app.screen.known):
                await pilot.pause()
            await pilot.press(*_KEYS)
            await pilot.pause()
            return app.export_screenshot()


if __name__ == "__main__":
    around = look_around(os.environ, now=_NOW)
    print(asyncio.run(picture(around)))
