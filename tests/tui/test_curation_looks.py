"""How a curation looks. `pytest --snapshot-update` accepts what is drawn now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ricordo.curation.proposal import RejectedChange
from ricordo.memory.change import Create, Replace, Retire, Rewrite
from ricordo.tui.app import RicordoApp
from ricordo.tui.curation.scope_screen import ScopeScreen
from ricordo.tui.curation.screen import CurationScreen
from ricordo.tui.main.screen import MainScreen
from tests.support.builders import note_text
from tests.support.curating import SESSION, user_lines
from tests.support.proposing import created, let_wait, wish
from tests.tui import hostile
from tests.tui.stage import SMALL, Stage, build, notebook_app
from tests.tui.test_inbox import notebook_of
from tests.tui.test_looks import Compare

CONTROLS = "".join(map(hostile.marked, ("csi", "osc52", "bidi", "zero")))
MARKED = " ".join(hostile.MARKUP)
NAMES = ("markup_2 [@click=app.quit]quit[_].md", f"{hostile.WIDE}.md")


def opened(*keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Return a function that opens the review and presses keys."""

    async def ready(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, RicordoApp)
        stage = Stage(app, pilot)
        await stage.wait_for(lambda: isinstance(app.screen, MainScreen) and stage.looked)
        await stage.wait_for(lambda: stage.main.action_context.pending, "the number")
        await stage.wait_for(lambda: stage.main._navigation.is_counted, "the first recording")
        stage.main._curating._decisions.rejected = [
            RejectedChange(f"retire {MARKED}", f"{CONTROLS} is no note. {hostile.WIDE}"),
            RejectedChange("delete", "Unknown kind of edit."),
        ]
        await stage.press("c")
        await stage.shows(CurationScreen)
        await stage.wait_for(lambda: app.screen.is_loaded)  # type: ignore[attr-defined]
        await stage.calm()
        await stage.press(*keys)
        await stage.hush()

    return ready


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_review(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    texts = hostile.notes()
    root = build(tmp_path, {**SMALL, **{name: texts[name] for name in NAMES}})
    reason = f"{MARKED} {CONTROLS} {hostile.WIDE}"
    changed = f"{hostile.WIDE} {hostile.LONG} {MARKED} {CONTROLS}"
    moved = SMALL["project_tides.md"].replace("The port is Sines", "The port is Lagos, 12 berths")
    let_wait(
        notebook_of(root),
        wish(Rewrite("project_tides.md", moved), "the port moved"),
        wish(Create("project_locks.md", created()), reason),
        wish(Rewrite(NAMES[1], f"{changed}\n"), reason, quote=f"{reason} {hostile.LONG}"),
        wish(Replace(NAMES[0], "and *[@click", "or *[@click"), reason),
        Retire("feedback_units.md", "project_tides.md"),
        Create("reference_buoys.md", note_text("buoys", "Red to port.\n")),
    )
    (root / "feedback_units.md").write_text(SMALL["feedback_units.md"] + "Knots too.\n")
    app = notebook_app(root)
    assert snap_compare(app, terminal_size=size, run_before=opened("down", "d", "a", "g", *"jjj"))


def test_scope(snap_compare: Compare, tmp_path: Path, pinned: Path) -> None:
    project = pinned / ".claude/projects/-home-ana-work-tidepool"
    project.mkdir(parents=True)
    root = build(tmp_path).rename(project / "memory")
    (project / f"{SESSION}.jsonl").write_text(
        user_lines(f"Remember: {MARKED} {CONTROLS}", hostile.WIDE)
    )

    async def ready(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, RicordoApp)
        stage = Stage(app, pilot)
        await stage.wait_for(lambda: isinstance(app.screen, MainScreen) and stage.looked)
        await stage.know()
        await stage.wait_for(lambda: stage.main._navigation.is_counted, "the first recording")
        await stage.hush()
        await stage.press("c")
        await stage.shows(ScopeScreen)
        await stage.wait_for(lambda: app.screen.preview)  # type: ignore[attr-defined]
        await stage.hush()
        await stage.press("pagedown")
        await stage.settle()

    assert snap_compare(notebook_app(root), terminal_size=(80, 24), run_before=ready)
