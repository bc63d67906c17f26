"""How the conflict workbench looks. `pytest --snapshot-update` accepts what is drawn now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from shutil import copytree

import pytest
from textual.pilot import Pilot

from ricordo.tui.app import RicordoApp
from ricordo.tui.screens.conflicts import ConflictsScreen
from tests.builders import note_text
from tests.tui.hostile import LONG, MARKUP, WIDE, marked
from tests.tui.stage import Stage, build, notebook_app
from tests.tui.test_conflicts import SAMPLE
from tests.tui.test_looks import Compare, drawn

LOOKS = [((80, 24), "ricordo-dark"), ((120, 40), "ricordo-dark"), ((120, 40), "ricordo-light")]


def opened(*keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Return what opens the workbench and presses keys there."""

    async def ready(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, RicordoApp)
        stage = Stage(app, pilot)
        await drawn()(pilot)
        await stage.press("x")
        await stage.shows(ConflictsScreen)
        await stage.press(*keys)
        app.clear_notifications()
        await stage.settle()

    return ready


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_workbench(
    snap_compare: Compare,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
    theme: str,
) -> None:
    copytree(SAMPLE, tmp_path / "sample")
    monkeypatch.setenv("RICORDO_AGENT_HOME", str(tmp_path / "sample" / "home"))
    app = notebook_app(tmp_path / "sample" / "memory")
    app.theme = theme
    assert snap_compare(app, terminal_size=size, run_before=opened())


def test_no_conflicts(snap_compare: Compare, tmp_path: Path) -> None:
    app = notebook_app(build(tmp_path))
    assert snap_compare(app, terminal_size=(80, 24), run_before=opened())


def test_hostile_notes(snap_compare: Compare, tmp_path: Path) -> None:
    said = "The web view listens on port {} [b]of[/b] the office."
    strange = " ".join((*MARKUP, WIDE, marked("csi"), marked("bidi"), marked("osc52")))
    bodies = [f"# {strange}\n\n{said.format(port)}\n\n{strange}\n" for port in (8040, 8100)]
    files = {
        f"{WIDE} {LONG[:60]}.md": note_text("'[/]'", bodies[0], "'[@click=app.quit]x[/]'"),
        "esc\x1b[31mred [/].md": note_text("b", bodies[1], "'[b]'"),
        "MEMORY.md": "# Memory\n",
    }
    app = notebook_app(build(tmp_path, files))
    assert snap_compare(app, terminal_size=(80, 24), run_before=opened())
