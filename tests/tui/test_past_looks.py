"""How the inbox and the history look. `pytest --snapshot-update` accepts what is drawn now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ricordo.tui.app import RicordoApp
from ricordo.tui.history.screen import HistoryScreen
from tests.support.builders import note_text
from tests.tui import hostile
from tests.tui.stage import Stage, build, notebook_app
from tests.tui.test_inbox import agent_session, notebook_of, open_inbox, recorded, write
from tests.tui.test_looks import Compare

SIZES = [(80, 24), (120, 40), (200, 60)]


def opened(screen: str, *keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Return what opens the inbox or the history and presses keys there."""

    async def ready(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, RicordoApp)
        stage = Stage(app, pilot)
        await stage.wait_for(lambda: stage.looked, "the first snapshot")
        if screen == "inbox":
            await open_inbox(stage)
            await stage.calm()
        else:
            await stage.wait_for(lambda: stage.main._navigation.is_counted)
            await stage.press("h")
            await stage.wait_for(lambda: isinstance(app.screen, HistoryScreen))
            await stage.wait_for(lambda: app.screen.version)  # type: ignore[attr-defined]
        await stage.press(*keys)
        await stage.wait_for(
            lambda: not any(it.node is app.screen and it.is_running for it in app.workers),
            "what the version changed",
        )
        await stage.hush()

    return ready


@pytest.mark.one_in(3)
@pytest.mark.parametrize("theme", ["ricordo-dark", "ricordo-light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_inbox(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], theme: str) -> None:
    root = recorded(tmp_path)
    agent_session(root)
    app = notebook_app(root)
    app.theme = theme
    assert snap_compare(app, terminal_size=size, run_before=opened("inbox", "d", "down"))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_history(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    root = recorded(tmp_path)
    write(root, "tides.md", note_text("tides", "The port is Setubal.\n"))
    (root / "ports.md").unlink()
    assert snap_compare(notebook_app(root), terminal_size=size, run_before=opened("history"))


def test_nothing_new(snap_compare: Compare, tmp_path: Path) -> None:
    root = recorded(tmp_path)
    assert snap_compare(notebook_app(root), terminal_size=(80, 24), run_before=opened("inbox"))


@pytest.mark.parametrize("screen", ["inbox", "history"])
def test_hostile_names(snap_compare: Compare, tmp_path: Path, screen: str) -> None:
    files = {path: text for path, text in hostile.notes().items() if path.startswith("markup")}
    root = build(tmp_path, {"a.md": "Plain.\n"})
    notebook = notebook_of(root)
    notebook.record(notebook.read())
    build(tmp_path, {**files, **hostile.odd_names()})
    assert snap_compare(
        notebook_app(root), terminal_size=(120, 40), run_before=opened(screen, "down")
    )
