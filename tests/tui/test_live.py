"""What agents do to the files while the notebook is open, and what is kept over a restart."""

from __future__ import annotations

import asyncio
import gc
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ricordo.errors import MemoryUnreadable, StateUnusable
from ricordo.memory.memory import Memory
from ricordo.services.workspace.follower import FollowedSnapshot, MemoryLost
from ricordo.services.workspace.notebook import Notebook
from ricordo.tui.context import Pane
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.workers import start_worker
from tests.support.builders import note_text, write_memory
from tests.tui.stage import PATIENCE, SMALL, Stage, build, notebook_app, on_stage, on_text, staged
from tests.tui.test_keys import ANA, CACHE, TIDES, UNITS, title

NEW = "The pilot boards at the outer buoy."


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at a silent directory more often than a person needs."""
    monkeypatch.setattr("ricordo.storage.watcher.IDENTITY_CHECK_MS", 100)


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write(f"\n{NEW}\n")


def in_place(path: Path) -> None:
    text = path.read_text()
    with path.open("r+") as file:
        file.write(f"{text}\n{NEW}\n")
        file.truncate()


def by_rename(path: Path) -> None:
    new = path.with_name(f".{path.name}.tmp")
    new.write_text(f"{path.read_text()}\n{NEW}\n")
    new.replace(path)


@pytest.mark.filterwarnings("error")
async def test_work_that_is_cancelled_before_it_begins_is_never_made(tmp_path: Path) -> None:
    begun = []

    async def work() -> None:
        begun.append(1)

    async with staged(build(tmp_path)) as stage:
        for _ in range(2):
            start_worker(stage.app.screen, work, group="test", exclusive=True)
        await stage.settle()
        gc.collect()
    assert begun == [1]


@pytest.mark.parametrize("write", [append, in_place, by_rename])
async def test_a_write_appears_and_nothing_jumps(
    write: Callable[[Path], None], tmp_path: Path
) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        await stage.go_to(CACHE)
        await stage.press("2", "j", "j", "j")
        write(root / TIDES)
        await stage.wait_for(lambda: "●" in stage.index_text)
        assert marked(stage) == [TIDES]
        assert (stage.here, stage.panes.active) == (CACHE, Pane.NOTE)
        assert stage.panes.note.scroll_offset.y == 3
        first = first_row(stage)
        write(root / CACHE)
        await stage.wait_for(lambda: NEW in stage.note_text)
        assert first_row(stage) == first
        await stage.go_to(TIDES)
        assert NEW in stage.note_text
        assert marked(stage) == []


def first_row(stage: Stage) -> str:
    """The row of the note that is at the top."""
    note = stage.panes.note
    return note.line_at(note.scroll_offset.y)[0].text


async def test_a_selection_is_kept_while_another_note_changes(tmp_path: Path) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        await stage.press("2")
        note = stage.panes.note
        await stage.pilot.mouse_down(note, offset=on_text(note, 0, 3))
        await stage.pilot.hover(note, offset=on_text(note, 9, 3))
        await stage.pilot.mouse_up(note, offset=on_text(note, 9, 3))
        await stage.press("y")
        selected = stage.app.clipboard
        assert len(selected) == 9
        append(root / TIDES)
        await stage.wait_for(lambda: marked(stage) == [TIDES])
        await stage.press("y")
        assert stage.app.clipboard == selected


async def test_a_torn_file_is_held_back_until_it_is_stable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # between the two writes of a slow machine more time may pass than a torn file is held back
    monkeypatch.setattr("ricordo.services.workspace.follower.STABLE_SECONDS", PATIENCE)
    root = build(tmp_path)
    async with staged(root) as stage:
        await stage.go_to(CACHE)
        whole = (root / CACHE).read_bytes()
        shown: list[str] = []
        (root / CACHE).write_bytes(b"")
        append(root / TIDES)
        await stage.wait_for(lambda: marked(stage) == [TIDES], "the write beside it")
        shown.append(stage.note_text)
        (root / CACHE).write_bytes(whole + b"\n" + NEW.encode())
        await stage.wait_for(lambda: shown.append(stage.note_text) or NEW in shown[-1])
        assert all("Line 39 about" in text for text in shown)


async def test_a_file_that_stays_torn_is_shown_so(tmp_path: Path) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        await stage.go_to(CACHE)
        (root / CACHE).write_bytes(b"")
        await stage.wait_for(lambda: "this file is empty" in stage.note_text)


async def test_files_that_come_go_and_move(tmp_path: Path) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        (root / "feedback_buoys.md").write_text(note_text("buoys", "Red to port.\n"))
        await stage.wait_for(lambda: "feedback_buoys" in stage.index_text)
        assert stage.here == ANA

        await stage.go_to(UNITS)
        (root / UNITS).rename(root / "feedback_metres.md")
        await stage.wait_for(lambda: stage.here == "feedback_metres.md", "the note that moved")
        await stage.wait_for(lambda: "feedback_units" not in stage.index_text)
        assert "Metres, never feet." in stage.note_text

        await stage.go_to(TIDES)
        (root / TIDES).unlink()
        await stage.wait_for(lambda: "project-tides was deleted by" in stage.toasts)
        assert stage.here not in ("", TIDES)
        assert "missing" in stage.index_text
        await stage.press("left_square_bracket", "left_square_bracket")
        assert stage.here != TIDES


async def test_a_link_comes_alive_when_its_note_is_written(tmp_path: Path) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        (root / "gone.md").write_text("Here after all.\n")
        await stage.wait_for(lambda: "gone.md" in stage.looked.snapshot.memory.by_path)
        # what is found out meanwhile would draw the note anew between two keys
        await stage.know()
        await stage.press("2", "right", "right", "right", "enter")
        await stage.wait_for(lambda: stage.here == "gone.md")
        (root / ANA).unlink()
        (root / "gone.md").unlink()
        await stage.wait_for(lambda: stage.here in (TIDES, CACHE, UNITS, "MEMORY.md"))


async def test_a_chosen_link_stays_chosen_while_its_note_is_written(tmp_path: Path) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        await stage.press("2", "right", "right")
        note = stage.main._panes.note
        chosen = note.chosen_link
        assert chosen is not None
        by_rename(root / ANA)
        await stage.wait_for(lambda: NEW in stage.note_text)
        assert note.chosen_link == chosen
        # a link before it makes it another number
        text = (root / ANA).read_text()
        (root / ANA).write_text(text.replace("\n---\n", "\n---\n\nSee [[project-cache]].\n", 1))
        await stage.wait_for(lambda: "See" in stage.note_text)
        assert note.chosen_link == chosen
        await stage.press("enter")
        await stage.wait_for(lambda: stage.here == chosen.path)


async def test_the_folder_goes_and_comes_back(tmp_path: Path) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        shutil.rmtree(root)
        await stage.wait_for(lambda: "unreadable" in stage.top)
        await stage.wait_for(lambda: "No memory directory" in stage.toasts)
        await stage.press("ctrl+r", "j", "k")
        write_memory(root, {"MEMORY.md": SMALL["MEMORY.md"]})
        # what fills the folder is slower than the notebook is told of it
        await asyncio.sleep(0.15)
        write_memory(root, {**SMALL, TIDES: note_text("project-tides", NEW)})
        await stage.wait_for(lambda: "watching" in stage.top)
        await stage.wait_for(lambda: NEW in stage.note_text)
        assert stage.here == TIDES
        append(root / CACHE)
        await stage.wait_for(lambda: CACHE in marked(stage), "that the new folder is watched")


async def test_three_thousand_files_in_a_burst(tmp_path: Path) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        looks: list[object] = []
        await asyncio.to_thread(
            write_memory, root, {f"burst_{n}.md": f"Note {n}.\n" for n in range(3_000)}
        )
        await stage.wait_for(
            lambda: looks.append(stage.main._seen) or len(looks[-1].snapshot.memory.files) == 3_005
        )
        assert stage.here == ANA
        await stage.press("j")
        await stage.wait_for(lambda: stage.here == TIDES)


async def test_a_memory_that_cannot_be_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = build(tmp_path)
    read = Notebook.read

    def refused(notebook: Notebook) -> None:
        raise MemoryUnreadable(f"{root} cannot be read: Permission denied.")

    listed = Notebook.list
    monkeypatch.setattr(Notebook, "list", refused)
    monkeypatch.setattr(Notebook, "read", refused)
    async with staged_lost(root) as stage:
        await stage.wait_for(lambda: isinstance(stage.main._seen, MemoryLost))
        await stage.wait_for(lambda: "This memory cannot be read" in stage.index_text)
        assert "Nothing was changed" in stage.index_text
        await stage.press("enter", "L", "t", "o", "y", "ctrl+r", "3", "right", "2", "s")
        monkeypatch.setattr(Notebook, "list", listed)
        monkeypatch.setattr(Notebook, "read", read)
        await stage.press("ctrl+r")
        await stage.wait_for(lambda: stage.looked and "Who Ana is" in stage.index_text)


@pytest.fixture
def held_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Notes are not read before this is set."""
    go_on, read = threading.Event(), Notebook.read

    def read_later(notebook: Notebook) -> Memory:
        assert go_on.wait(PATIENCE)
        return read(notebook)

    monkeypatch.setattr(Notebook, "read", read_later)
    yield go_on
    go_on.set()


async def test_the_index_is_there_before_the_notes(
    tmp_path: Path, held_back: threading.Event
) -> None:
    files = {f"note_{n:02}.md": note_text(f"name-{n:02}", f"Text {n:02}.\n") for n in range(60)}
    entries = "".join(f"- [Entry {n:02}](note_{n:02}.md)\n" for n in range(60))
    root = build(tmp_path, {**files, "MEMORY.md": f"{entries}- [[name-07]]\n- [Gone](gone.md)\n"})
    async with staged_unread(root) as stage:
        assert "61 notes" not in stage.top
        assert "60 notes" in stage.top
        assert "reading" in stage.top
        assert "missing" not in stage.index_text
        assert "reading …" in stage.note_text
        await stage.press(*["j"] * 50)
        assert stage.here == "note_50.md"
        top = stage.panes.index.scroll_offset.y
        assert top > 0
        held_back.set()
        await stage.wait_for(lambda: stage.looked)
        assert (stage.here, stage.panes.index.scroll_offset.y) == ("note_50.md", top)
        assert "Text 50." in stage.note_text
        assert stage.index_text.count("missing") == 1


async def test_an_order_that_depends_on_the_notes_waits_for_them(
    tmp_path: Path, held_back: threading.Event
) -> None:
    root = build(tmp_path)
    held_back.set()
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("o")
    held_back.clear()
    async with staged_unread(root) as stage:
        assert stage.index_text == "reading …"
        await stage.press("j", "k", "enter", "1")
        held_back.set()
        await stage.wait_for(lambda: stage.looked)
        assert title(stage, Pane.INDEX) == "Index by type"
        assert stage.here == TIDES


async def test_a_state_directory_that_cannot_be_written(tmp_path: Path, pinned: Path) -> None:
    (pinned / ".local/state").mkdir(parents=True)
    (pinned / ".local/state/ricordo").write_text("a file where our directory would be")
    async with staged(build(tmp_path)) as stage:
        await stage.press("3", "right", "minus")
        await stage.wait_for(lambda: "cannot be used" in stage.toasts)
        assert stage.panes.freshness.finding in stage.looked.snapshot.findings


async def test_the_history_may_fail_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(decisions: object, *wanted: object) -> None:
        raise StateUnusable("The history cannot be used: it is torn.")

    monkeypatch.setattr("ricordo.storage.decisions.Decisions.find_active", torn)
    async with staged(build(tmp_path)) as stage:
        assert "it is torn" in stage.toasts
        assert "Who Ana is" in stage.index_text


async def test_the_desk_is_found_as_it_was_left(tmp_path: Path) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("s", "o", "t", "t", "slash", *"port", "enter", "greater_than_sign")
        left = stage.panes.shares
        assert left["index"] > 34
    async with staged(root) as stage:
        assert stage.here == TIDES
        assert "name: project-tides" in stage.note_text
        assert title(stage, Pane.INDEX) == "Index by type · project · /port"
        assert stage.panes.shares == left


async def test_a_dismissed_finding_stays_dismissed(tmp_path: Path) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        await stage.press("3", "right", "minus")
        await stage.wait_for(lambda: len(stage.looked.snapshot.dismissed) == 1)
    async with staged(root) as stage:
        await stage.press("3", "left")
        assert "dismissed 1" in stage.freshness_text
        await stage.press("minus")
        await stage.wait_for(lambda: not stage.looked.snapshot.dismissed)


async def test_a_busy_folder_does_not_hide_a_file_for_ever(tmp_path: Path) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        await stage.go_to(CACHE)
        (root / CACHE).write_text("Short.\n")
        writer = asyncio.create_task(busy(root / "log.txt"))
        try:
            await stage.wait_for(lambda: "Short." in stage.note_text)
        finally:
            writer.cancel()


async def busy(path: Path) -> None:
    """Write to `path` all the time."""
    while True:
        with path.open("a") as file:
            file.write("again\n")
        await asyncio.sleep(0.02)


@asynccontextmanager
async def staged_unread(root: Path) -> AsyncIterator[Stage]:
    """Open a memory and wait for its first sight."""
    async with on_stage(notebook_app(root)) as stage:
        await stage.wait_for(lambda: isinstance(stage.app.screen, MainScreen))
        await stage.wait_for(
            lambda: isinstance(stage.main._seen, FollowedSnapshot), "the first sight"
        )
        await stage.settle()
        yield stage


def staged_lost(root: Path):  # type: ignore[no-untyped-def]
    """Open a memory without waiting for what cannot come."""
    return on_stage(notebook_app(root))


def marked(stage: Stage) -> list[str]:
    """Return the notes that are marked as changed."""
    index = stage.panes.index
    return [
        row.path
        for number, row in enumerate(index.rows)
        if index.line_at(number)[0].text.startswith("●")
    ]


@pytest.mark.parametrize(("keys", "rule"), [((), "dead-link"), (("3",), "unindexed-note")])
async def test_the_worst_finding_stays_in_sight_unless_the_cursor_is_in_the_list(
    tmp_path: Path, keys: tuple[str, ...], rule: str
) -> None:
    root = build(tmp_path)
    async with staged(root, (200, 60)) as stage:
        await stage.go_to(UNITS)
        await stage.press(*keys)
        freshness = stage.panes.freshness
        assert freshness.finding is not None
        assert freshness.finding.rule == "unindexed-note"
        with (root / UNITS).open("a", encoding="utf-8") as file:
            file.write("\nSee [the chart](chart.md).\n")
        await stage.wait_for(lambda: "chart" in stage.freshness_text, "the dead link")
        assert freshness.finding is not None
        assert freshness.finding.rule == rule
