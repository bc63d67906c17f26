"""The origin screen, and what the note pane shows about sessions."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ricordo.tui.app import RicordoApp
from ricordo.tui.dialogs.origin import OriginScreen
from ricordo.tui.inbox.screen import InboxScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.widgets.bar import Bar
from tests.support.transcripts import BEGAN, Claude
from tests.tui import hostile
from tests.tui.stage import Stage, build, notebook_app, staged, text_of
from tests.tui.test_looks import Compare

TIDES, CACHE = "project_tides.md", "project_cache.md"
SAID = "Remember: the port is Sines. Tables come from the institute of the sea."


def with_transcript(root: str | Path, note: str, said: str = SAID) -> Path:
    """Let an agent, whose memory is at `root`, have a session in which it wrote `note`."""
    claude = Path(os.environ["HOME"]) / ".claude"
    claude.mkdir(exist_ok=True)
    (claude / "settings.json").write_text(json.dumps({"autoMemoryDirectory": str(root)}))
    path = f"{root}/{note}"
    script = Claude().says("Which tables are these?").answers("Those of the harbour office.")
    script.says(said).uses("Write", file_path=path, content="The port is Sines. Tables: institute.")
    script.answers("Noted, with where the tables come from.").says("Fine.").uses(
        "Read", file_path=path
    )
    script.says("The tables of the institute come monthly now.")
    script.uses("Edit", file_path=path, new_string="Tables come monthly from the institute.")
    return script.titled("Tables of tides").write(claude.parent)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the time zone to UTC: times of messages are shown in it."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def opened(stage: Stage) -> OriginScreen:
    await stage.press("O")
    await stage.shows(OriginScreen)
    screen = stage.app.screen
    assert isinstance(screen, OriginScreen)
    await stage.wait_for(lambda: screen.is_loaded)
    await stage.settle()
    return screen


async def test_the_note_pane_shows_session_and_reads(tmp_path: Path) -> None:
    root = build(tmp_path)
    with_transcript(root, TIDES)
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.wait_for(lambda: "read 1×" in stage.note_text)
        assert "from session “Tables of…” · 5 Oct  O origin" in stage.note_text
        await stage.go_to(CACHE)
        await stage.wait_for(lambda: "never read" in stage.note_text)
        assert "from session" not in stage.note_text


async def test_a_read_by_an_agent_appears_while_the_notebook_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.services.workspace.follower.NEWS_INTERVAL", 0.1)
    root = build(tmp_path)
    transcript = with_transcript(root, TIDES)
    async with staged(root) as stage:
        await stage.go_to(CACHE)
        await stage.wait_for(lambda: "never read" in stage.note_text)
        read = Claude("later").uses("Read", file_path=f"{root}/{CACHE}")
        (transcript.parent / "later.jsonl").write_bytes(read.bytes)
        await stage.wait_for(lambda: "read 1×" in stage.note_text)


async def test_without_transcripts_no_origin_is_shown(tmp_path: Path) -> None:
    async with staged(build(tmp_path)) as stage:
        await stage.go_to(TIDES)
        assert "read" not in stage.note_text.split("\n")[0]
        await stage.press("O")
        assert isinstance(stage.app.screen, MainScreen)
        assert "No transcript shows" in stage.toasts


async def test_the_origin_quotes_the_message_and_steps_through_changes(tmp_path: Path) -> None:
    root = build(tmp_path)
    transcript = with_transcript(root, TIDES)
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        screen = await opened(stage)
        shown = text_of(screen._messages_view)
        assert f"┃ {SAID}" in shown
        assert "✎ wrote the note project_tides.md" in shown
        assert "1 of 2 · written 5 October 2026" in stage.painted()
        assert screen.query_one("#state", Bar).text.rstrip().endswith(f"/{transcript.name}")
        await stage.press("y")
        assert stage.app.clipboard == SAID
        await stage.press("left_square_bracket")
        assert "This is the first change of the note" in stage.toasts
        await stage.press("right_square_bracket")
        assert "┃ The tables of the institute come monthly now." in text_of(screen._messages_view)
        assert "2 of 2 · changed 5 October 2026" in stage.painted()
        await stage.press("right_square_bracket")
        assert "This is the last known change" in stage.toasts
        await stage.press("left_square_bracket")
        assert "1 of 2" in stage.painted()
        await stage.press("escape")
        assert isinstance(stage.app.screen, MainScreen)


async def test_the_messages_scroll_on_a_small_screen(tmp_path: Path) -> None:
    root = build(tmp_path)
    with_transcript(root, TIDES)
    async with staged(root, size=(60, 12)) as stage:
        await stage.go_to(TIDES)
        view = (await opened(stage))._messages_view
        assert "┃ Remember: the port is Sines." in stage.painted(), "the cause is in sight at once"
        began = view.scroll_offset.y
        assert began > 0
        await stage.press("k", "k", "j")
        assert view.scroll_offset.y == began - 1
        await stage.press("G")
        assert view.is_vertical_scroll_end
        end = view.scroll_offset.y
        await stage.press("pageup")
        assert view.scroll_offset.y < end
        await stage.press("g", "pagedown")
        assert 0 < view.scroll_offset.y <= end


async def test_the_quote_stays_after_the_transcript_is_deleted(tmp_path: Path) -> None:
    root = build(tmp_path)
    transcript = with_transcript(root, TIDES)
    async with staged(root):
        pass
    transcript.unlink()
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        screen = await opened(stage)
        assert SAID in text_of(screen._messages_view)
        assert "the transcript was deleted" in screen.query_one("#state", Bar).text


def ready(note: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    async def on_screen(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, RicordoApp)
        stage = Stage(app, pilot)
        await stage.wait_for(lambda: stage.looked, "the first snapshot")
        await stage.know()
        await stage.go_to(note)
        screen = await opened(stage)
        # where it lies differs from run to run
        screen._exists = {}
        screen.update_bars()
        await stage.hush()

    return on_screen


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_origin(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    root = build(tmp_path)
    with_transcript(root, TIDES)
    assert snap_compare(notebook_app(root), terminal_size=size, run_before=ready(TIDES))


def test_what_nobody_said(snap_compare: Compare, tmp_path: Path) -> None:
    root = build(tmp_path)
    with_transcript(root, TIDES, "Make the curve thicker.")
    assert snap_compare(notebook_app(root), terminal_size=(80, 24), run_before=ready(TIDES))


def test_hostile_turns(snap_compare: Compare, tmp_path: Path) -> None:
    root = build(tmp_path)
    marked = map(hostile.marked, ("1b", "csi", "osc52", "bidi", "zero"))
    texts = (SAID, *hostile.MARKUP, hostile.WIDE, hostile.LONG, *marked)
    said = "\n".join(texts)
    with_transcript(root, TIDES, said)
    assert snap_compare(notebook_app(root), terminal_size=(120, 40), run_before=ready(TIDES))


async def test_the_inbox_names_the_session_once_it_is_known(tmp_path: Path) -> None:
    root = build(tmp_path)
    with_transcript(root, CACHE)
    async with staged(root) as stage:
        with_transcript(root, TIDES)
        await stage.press("i")
        await stage.shows(InboxScreen)
        path = root / TIDES
        path.write_text(path.read_text().replace("Sines", "Setubal"))
        written = (BEGAN + timedelta(minutes=10)).timestamp()
        os.utime(path, (written, written))
        await stage.paints("Claude Code · Tables of tides")
