"""A picture of the notebook, drawn by itself.

`python -m tools.picture > docs/ricordo.svg` opens the sample memory and prints what is then
on the screen.
"""

from __future__ import annotations

import asyncio
import os

from ricordo.services.workspace.environment import Environment, copy_sample, load_environment
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.settings import load_settings, load_themes
from ricordo.tui.actions.registry import list_known_actions
from ricordo.tui.app import RicordoApp
from ricordo.tui.main.screen import MainScreen

_SIZE = (120, 36)
_NOW = "2026-11-20T09:00:00+00:00"
_KEYS = ("down",) * 12


async def picture(surroundings: Environment) -> str:
    """Return the main screen on the sample memory as SVG."""
    with copy_sample(surroundings) as sample:
        settings, _ = load_settings(sample.environment, list_known_actions())
        themes, _ = load_themes(sample.environment)
        found = find_memories(sample.memory, sample.environment)
        app = RicordoApp(found, sample.environment, settings, (), themes)
        async with app.run_test(size=_SIZE) as pilot:
            while not (isinstance(app.screen, MainScreen) and app.screen.is_complete):
                await pilot.pause()
            await pilot.press(*_KEYS)
            await pilot.pause()
            return app.export_screenshot()


if __name__ == "__main__":
    around = load_environment(os.environ, now=_NOW)
    print(asyncio.run(picture(around)))
