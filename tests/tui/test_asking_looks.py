"""How asking a model looks. `pytest --snapshot-update` accepts what is drawn now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.pilot import Pilot

from ricordo.tui.app import RicordoApp
from ricordo.tui.curation.redaction_screen import RedactionScreen
from ricordo.tui.dialogs.form import ConfirmScreen
from ricordo.tui.main.screen import MainScreen
from tests.support import messages_replies as replies
from tests.support.asking import TOKEN
from tests.support.curating import SAID, SESSION, user_lines
from tests.support.messages_server import MessagesServer, Wire, messages_server, without_credentials
from tests.tui import hostile
from tests.tui.stage import SMALL, Stage, build, notebook_app
from tests.tui.test_asking import wait_for_preview
from tests.tui.test_curation_looks import CONTROLS, MARKED
from tests.tui.test_looks import Compare

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
ODD = f"{MARKED} {CONTROLS} {hostile.WIDE}"
Then = Callable[[Stage], Awaitable[None]]


@pytest.fixture
def root(pinned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    monkeypatch.setattr("ricordo.tui.jobs.time", SimpleNamespace(monotonic=lambda: 7.0))
    project = pinned / ".claude/projects/-home-ana-work-tidepool"
    project.mkdir(parents=True)
    talk = user_lines(SAID, f"{ODD} the token is {TOKEN} {ODD}", "The pin of the gate is 4711.")
    (project / f"{SESSION}.jsonl").write_text(talk, "utf-8")
    # the size of ours stands in the estimate
    prompts = pinned / ".config/ricordo/prompts"
    prompts.mkdir(parents=True)
    (prompts / "curate.md").write_text("Use the tool `propose`.\n")
    # fingerprints are made with it
    state = pinned / ".local/state/ricordo"
    state.mkdir(parents=True)
    (state / "redaction.key").write_bytes(b"k" * 32)
    return build(pinned, SMALL).rename(project / "memory")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    """Return a server that begins to answer, and says nothing more."""
    text = f'{{"edits": [{{"reason": "{ODD} {hostile.LONG[:300]}'
    events = [replies.start(), *replies.tool_block(text, piece=100)[:-1]]
    with messages_server(replies.broken_off(events, Wire.stall)) as running:
        # its own address has another number each time
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://ana:hunter22@tides.example:8080")
        monkeypatch.setenv("http_proxy", running.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        yield running


def opened(then: Then, engine: str = "right") -> Callable[[Pilot[int]], Awaitable[None]]:
    """Return what opens the curate screen with an engine, and does `then`."""

    async def ready(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, RicordoApp)
        stage = Stage(app, pilot)
        await stage.wait_for(lambda: isinstance(app.screen, MainScreen) and stage.looked)
        await stage.know()
        await stage.wait_for(lambda: stage.main._navigation.is_counted, "the first recording")
        await stage.hush()
        await stage.press("c")
        await wait_for_preview(stage)
        await stage.press(engine)
        await wait_for_preview(stage)
        await then(stage)
        await stage.hush()

    return ready


@pytest.mark.one_in(2)
@SIZES
def test_before(
    snap_compare: Compare, root: Path, server: MessagesServer, size: tuple[int, int]
) -> None:
    async def then(stage: Stage) -> None:
        await stage.press("pagedown")

    assert snap_compare(notebook_app(root), terminal_size=size, run_before=opened(then))


@pytest.mark.one_in(2)
@SIZES
def test_what_comes_in(
    snap_compare: Compare, root: Path, server: MessagesServer, size: tuple[int, int]
) -> None:
    async def then(stage: Stage) -> None:
        await stage.press("enter")
        await stage.wait_for(lambda: len(stage.app.screen._incoming) > 350)  # type: ignore[attr-defined]
        await stage.wait_for(lambda: stage.app.screen._drawn[2])  # type: ignore[attr-defined]

    assert snap_compare(notebook_app(root), terminal_size=size, run_before=opened(then))


@pytest.mark.one_in(2)
@SIZES
def test_redacted_values(
    snap_compare: Compare, root: Path, server: MessagesServer, size: tuple[int, int]
) -> None:
    async def then(stage: Stage) -> None:
        await stage.press("r")
        await stage.shows(RedactionScreen)
        await stage.wait_for(lambda: stage.app.screen.is_read)  # type: ignore[attr-defined]

    assert snap_compare(notebook_app(root), terminal_size=size, run_before=opened(then))


def test_a_new_program(snap_compare: Compare, root: Path, pinned: Path) -> None:
    config = pinned / ".config/ricordo/settings.toml"
    words = ["/bin/cat", MARKED, "two words", "\\u202e\\u001b[2J", hostile.WIDE]
    line = ", ".join(f'"{it}"' for it in words)
    config.write_text(f"[engine]\ncommand = [{line}]\n", "utf-8")

    async def then(stage: Stage) -> None:
        await stage.press("enter")
        await stage.shows(ConfirmScreen)

    run_before = opened(then, "left")
    assert snap_compare(notebook_app(root), terminal_size=(80, 24), run_before=run_before)
