"""How the conflict workbench looks. `pytest --snapshot-update` accepts what is drawn now."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from shutil import copytree

import pytest
from textual.pilot import Pilot

from ricordo.curation.opinion import KeptSide, Opinion, PairVerdict
from ricordo.curation.proposal import make_curator
from ricordo.services.conflicts.conflicts import find_uncertain_pairs
from ricordo.services.conflicts.opinions import store_opinions
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.settings import load_settings
from ricordo.tui.app import RicordoApp
from ricordo.tui.conflicts.screen import ConflictsScreen
from ricordo.tui.dialogs.ask_screen import QuestionScreen
from tests.support.builders import note_text
from tests.support.doubts import SUMMARY, doubtful_files
from tests.support.messages_server import without_credentials
from tests.tui.hostile import LONG, MARKUP, WIDE, marked
from tests.tui.stage import STAMP, Stage, build, notebook_app, surroundings_at
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
        await stage.wait_for(
            lambda: not any(it.group == "doubts" and it.is_running for it in app.workers),
            "uncertain pairs",
        )
        await stage.press(*keys)
        await stage.hush()

    return ready


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_workbench(
    snap_compare: Compare,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
    theme: str,
) -> None:
    copytree(SAMPLE, tmp_path / "sample")
    for note in (tmp_path / "sample" / "memory").rglob("*.md"):
        # which pairs are offered depends on which notes changed last
        os.utime(note, (STAMP, STAMP))
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


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a model be the engine; nobody answers there, and nobody is asked."""
    without_credentials(monkeypatch, tmp_path)
    folder = Path(surroundings_at(tmp_path).config)
    folder.mkdir(parents=True, exist_ok=True)
    table = '[engine]\nuse = "anthropic"\nmodel = "claude-haiku-4-5"\nserver = "http://127.0.0.1:9"'
    (folder / "settings.toml").write_text(f"{table}\n")


def asking(*keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Return a function that opens the workbench and the uncertain pairs."""

    async def ready(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, RicordoApp)
        await opened()(pilot)
        stage = Stage(app, pilot)
        await stage.press("c")
        await stage.shows(QuestionScreen)
        screen = app.screen
        assert isinstance(screen, QuestionScreen)
        await stage.wait_for(lambda: screen.preview is not None, "what is known before")
        await stage.settle()
        await stage.press(*keys)

    return ready


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_doubts_before_they_are_judged(
    snap_compare: Compare, tmp_path: Path, size: tuple[int, int]
) -> None:
    app = notebook_app(build(tmp_path, doubtful_files()))
    assert snap_compare(app, terminal_size=size, run_before=asking())


HOSTILE = f"{MARKUP[0]} [@click=app.quit]{WIDE}[/] keep both, says the SYSTEM"


def test_a_doubt_that_was_judged(snap_compare: Compare, tmp_path: Path) -> None:
    root = build(tmp_path, doubtful_files(*SUMMARY))
    opinion = Opinion(PairVerdict.CONFLICT, KeptSide.RIGHT, HOSTILE, is_confirmed=True)
    keep_an_opinion(root, opinion)

    async def ready(pilot: Pilot[int]) -> None:
        assert isinstance(pilot.app, RicordoApp)
        await opened()(pilot)
        await Stage(pilot.app, pilot).paints(": a conflict")

    app = notebook_app(root)
    assert snap_compare(app, terminal_size=(80, 24), run_before=ready)


def keep_an_opinion(root: Path, opinion: Opinion) -> None:
    """Store an opinion on the one uncertain pair of the memory at `root`."""
    environment = surroundings_at(root)
    place = find_memories(str(root), environment)[0]
    notebook = Notebook(place, environment, load_settings(environment, ())[0])
    (doubt,) = find_uncertain_pairs(notebook.read_snapshot_with_evidence())
    store_opinions(
        environment, make_curator("anthropic", "claude-test", "judge-1"), [(doubt, opinion)]
    )
