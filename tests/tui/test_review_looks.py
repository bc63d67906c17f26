"""How the review looks. `pytest --snapshot-update` accepts what is drawn now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ricordo.tui.app import RicordoApp
from ricordo.tui.dialogs.choose import ChooseScreen
from tests.tui import hostile
from tests.tui.stage import Stage, build, notebook_app
from tests.tui.test_inbox import notebook_of
from tests.tui.test_looks import Compare
from tests.tui.test_review import FILES, at_once, open_review

SIZES = [(80, 24), (120, 40)]

_ = at_once


def opened(*keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Return what opens the review and presses keys there."""

    async def ready(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, RicordoApp)
        stage = Stage(app, pilot)
        await stage.wait_for(lambda: stage.looked, "the first look")
        screen = await open_review(stage)
        for key in keys:
            before = len(screen.outcomes)
            await stage.press(key)
            if key == "a":
                await stage.wait_for(lambda before=before: len(screen.outcomes) > before, "said")
                await stage.settle()
        told = keys.count("a")
        await stage.wait_for(lambda: len(stage.main._snapshot.verdicts) == told, "a look")
        await stage.wait_for(lambda: len(screen.outcomes) == told, "all that was said")
        await stage.hush()

    return ready


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = build(tmp_path, FILES)
    notebook = notebook_of(root)
    notebook.record(notebook.read())
    return root


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_a_note(snap_compare: Compare, root: Path, size: tuple[int, int]) -> None:
    assert snap_compare(notebook_app(root), terminal_size=size, run_before=opened())


@pytest.mark.parametrize(
    ("size", "theme"), zip(SIZES, ["ricordo-light", "ricordo-dark"], strict=True)
)
def test_the_end(snap_compare: Compare, root: Path, size: tuple[int, int], theme: str) -> None:
    app = notebook_app(root)
    app.theme = theme
    ready = opened("a", "a", "down")
    assert snap_compare(app, terminal_size=size, run_before=ready)


def test_what_now(snap_compare: Compare, root: Path) -> None:
    async def ready(pilot: Pilot[int]) -> None:
        await opened()(pilot)
        assert isinstance(pilot.app, RicordoApp)
        stage = Stage(pilot.app, pilot)
        await stage.press("d")
        await stage.shows(ChooseScreen)

    assert snap_compare(notebook_app(root), terminal_size=(80, 24), run_before=ready)


def test_hostile_notes(snap_compare: Compare, tmp_path: Path) -> None:
    said = "\n\nThe freeze ends on 2026-11-02. "
    files = {
        path: str(text).replace("\n\n", said, 1)
        for path, text in hostile.notes().items()
        if path.startswith("markup")
    }
    root = build(tmp_path, files)
    notebook = notebook_of(root)
    notebook.record(notebook.read())
    (root / "came\x1b[31m.md").write_text("Plain \x1b]52;c;x\x07 text, ends on 2026-11-02.\n")
    assert snap_compare(notebook_app(root), terminal_size=(120, 40), run_before=opened())
