"""The ledger screen: cost and benefit of curation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ricordo.curation.engine import EngineUsage
from ricordo.tui.app import RicordoApp
from ricordo.tui.dialogs.ledger import LedgerScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.widgets.text_view import TextView
from tests.support.curating import Desk, edit
from tests.tui.stage import Stage, build, notebook_app, on_stage, text_of
from tests.tui.test_inbox import notebook_of
from tests.tui.test_looks import Compare, drawn


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a memory to which two curations were applied, one of them by a hostile engine."""
    root = build(tmp_path)
    notebook = notebook_of(root)
    notebook.record(notebook.read())
    desk = Desk(tmp_path, {}, notebook)
    first = edit("insert", note="n1", after_line=8, text="Berth 12, since 2026-03-04.")
    desk.propose([first], EngineUsage(12_345, 678, 0.0432))
    desk.take()
    name = desk.notebook.read().notes[0].path
    second = edit("replace", note=desk.id_of(name), old="Berth 12", new="A [/b]erth")
    desk.propose([second, edit("retire", note="n2", successor="")], EngineUsage(900, 12, None))
    desk.take(by_hand=False)
    return root


def opened(*keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    async def ready(pilot: Pilot[int]) -> None:
        await drawn("dollar_sign")(pilot)
        app = pilot.app
        assert isinstance(app, RicordoApp)
        stage = Stage(app, pilot)
        await shown(stage)
        await stage.press(*keys)

    return ready


async def shown(stage: Stage) -> str:
    await stage.shows(LedgerScreen)
    await stage.wait_for(lambda: stage.app.screen.is_loaded)  # type: ignore[attr-defined]
    await stage.settle()
    return text_of(stage.app.screen.query_one(TextView))


async def test_the_ledger_shows_cost_and_benefit_and_closes(root: Path) -> None:
    async with on_stage(notebook_app(root)) as stage:
        await stage.know()
        await stage.press("$")
        told = await shown(stage)
        assert "1 curation applied" in told
        assert "13,245 tokens in, 690 out, $0.04, 1 run without a known price" in told
        assert "added  1 date, 1 number" in told
        assert "0 accepted, 0 refused of 2" in told
        await stage.press("$")
        await stage.shows(MainScreen)


async def test_an_empty_ledger_says_how_to_begin(tmp_path: Path) -> None:
    async with on_stage(notebook_app(build(tmp_path)), (80, 24)) as stage:
        await stage.know()
        await stage.press("$")
        assert "No curation decided yet" in await shown(stage)
        await stage.press("escape")
        await stage.shows(MainScreen)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_looks(snap_compare: Compare, root: Path, size: tuple[int, int]) -> None:
    assert snap_compare(notebook_app(root), terminal_size=size, run_before=opened())
