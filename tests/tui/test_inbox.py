"""The inbox and the history on screen, over real files that an agent wrote."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ricordo.errors import EditRefused
from ricordo.memory.change import Change, Replace
from ricordo.services.edits.change import apply_merging, build_change_set
from ricordo.services.inbox.inbox import count_visits, read_inbox
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.settings import load_settings
from ricordo.storage import jail as held_root
from ricordo.tui.actions.registry import list_known_actions
from ricordo.tui.dialogs.change_set import ProposalScreen
from ricordo.tui.history.screen import HistoryScreen
from ricordo.tui.inbox.screen import InboxScreen
from ricordo.tui.main.screen import MainScreen
from tests.faults.writer_world import at_every_call
from tests.support.builders import note_text
from tests.tui.stage import (
    NO_DELAY,
    STAMP,
    Stage,
    build,
    notebook_app,
    on_stage,
    staged,
    surroundings_at,
    text_of,
)

SESSION = "0f8fad5b-d9cb-469f-a165-70867728950e"
BEFORE: Mapping[str, str] = {
    "MEMORY.md": (
        "# Tidepool\n\n- [Tides](tides.md) — which port\n- [Ports](ports.md) — where they are\n"
        "- [Quays](quays.md) — how many\n- [Buoys](buoys.md) — their colours\n"
    ),
    "tides.md": note_text("tides", "".join(f"Line {n} of the tides.\n" for n in range(30))),
    "ports.md": note_text("ports", "Sines.\n"),
    "quays.md": note_text("quays", "Eight of them.\n"),
    "buoys.md": note_text("buoys", "Red to port.\n"),
}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ctrl+s count from the first moment."""
    monkeypatch.setattr("ricordo.tui.base.action_screen.KEY_DELAY", NO_DELAY)


def notebook_of(root: Path) -> Notebook:
    environment = surroundings_at(root)
    settings, _ = load_settings(environment, list_known_actions())
    return Notebook(find_memories(str(root), environment)[0], environment, settings)


def recorded(folder: Path, files: Mapping[str, str] = BEFORE) -> Path:
    """Return a memory that the history knows."""
    root = build(folder, files)
    notebook = notebook_of(root)
    notebook.record(notebook.read())
    return root


def contents(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(root.iterdir())}


def write(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text)
    os.utime(root / name, (STAMP + 60, STAMP + 60))


def agent_session(root: Path) -> None:
    """Create, change, delete, rename, cut the index: while nobody looks."""
    made = note_text("locks", "Locks close at ebb.\n").replace(
        "  type: project\n", f"  type: project\n  originSessionId: {SESSION}\n"
    )
    write(root, "locks.md", made)
    changed = BEFORE["tides.md"].replace("Line 2 of", "Two of").replace("Line 25 of", "25 of")
    write(root, "tides.md", changed)
    (root / "ports.md").unlink()
    (root / "quays.md").rename(root / "berths.md")
    write(root, "MEMORY.md", "# Tidepool\n\n- [Locks](locks.md) — when they close\n")


@asynccontextmanager
async def in_inbox(root: Path, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Stage]:
    async with staged(root, size) as stage:
        await open_inbox(stage)
        yield stage


async def open_inbox(stage: Stage) -> None:
    await stage.wait_for(lambda: stage.main._navigation.is_counted, "the recording")
    await stage.press("i")
    await stage.wait_for(lambda: isinstance(stage.app.screen, InboxScreen), "the inbox")
    await stage.wait_for(lambda: screen_of(stage).is_loaded, "its arrivals")
    await stage.settle()


def screen_of(stage: Stage) -> InboxScreen:
    screen = stage.app.screen
    assert isinstance(screen, InboxScreen)
    return screen


async def choose(stage: Stage, path: str) -> None:
    screen = screen_of(stage)
    await stage.press("1", "g")
    await stage.wait_for(
        lambda: (screen.arrival and screen.arrival.path == path) or screen._list.move(1), path
    )
    await stage.settle()


def new_in(root: Path) -> list[str]:
    return [arrival.path for arrival in read_inbox(notebook_of(root)).pending]


def new_in_recorded(root: Path) -> list[str]:
    """Return what is new once the memory is recorded as it is now."""
    notebook = notebook_of(root)
    notebook.record(notebook.read())
    return new_in(root)


async def leave(stage: Stage) -> None:
    await stage.press("1", "escape")
    await stage.wait_for(lambda: isinstance(stage.app.screen, MainScreen), "the main screen")


async def test_a_text_that_could_not_be_merged_is_a_conflict_and_comes_first(
    tmp_path: Path,
) -> None:
    """Two programs change one line of a note while it is replaced: one text stays in the file."""
    root = recorded(tmp_path)
    notebook = notebook_of(root)
    change = Change(Replace("tides.md", "Line 2 of", "Second of"))
    change_set = build_change_set(notebook, notebook.read(), [change])
    texts = [
        note_text("tides", f"Of {who}.\n") for who in ("the other", "the [red]one[/red] \x1b[31m")
    ]

    def write_meanwhile(step: str) -> None:
        # the first exchange of all finds out whether there is such a thing
        exchanges.append(step)
        if step == "exchange" and exchanges.count("exchange") > 1 and texts:
            write(root, "tides.md", texts.pop())

    exchanges: list[str] = []
    held_root._exchanging.clear()
    with at_every_call(write_meanwhile), pytest.raises(EditRefused):
        apply_merging(notebook, change_set, by_hand=True)
    write(root, "locks.md", note_text("locks", "Locks close at ebb.\n"))
    async with in_inbox(root) as stage:
        screen = screen_of(stage)
        rows = [(it.kind, it.path) for it in screen._arrivals]
        assert rows == [
            ("conflict", "tides.md"),
            ("changed", "tides.md"),
            ("created", "locks.md"),
        ]
        assert "conflict by another program" in text_of(screen._about)
        assert "not in the file" in text_of(screen._about)
        kept = contents(root)
        await stage.press("d")
        await stage.settle()
        assert not screen._judging.marks
        await stage.press("a")
        await stage.wait_for(lambda: screen._now.changes[-1].is_kept, "the decision")
        assert contents(root) == kept


async def test_a_session_is_shown_and_each_act_of_it_reverted(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    before = contents(root)
    agent_session(root)
    async with in_inbox(root) as stage:
        assert "5 new in the inbox" in stage.top
        assert "i inbox 5" in stage.bottom
        screen = screen_of(stage)
        shown = [(it.kind, it.path) for it in screen._arrivals]
        assert shown == [
            ("deleted", "ports.md"),
            ("changed", "MEMORY.md"),
            ("changed", "tides.md"),
            ("renamed", "berths.md"),
            ("created", "locks.md"),
        ]
        await choose(stage, "locks.md")
        assert f"session {SESSION}" in text_of(screen._about)
        await choose(stage, "MEMORY.md")
        assert "4 entries dropped from the index: Tides, Ports, Quays" in text_of(screen._about)
        for _, path in shown:
            await choose(stage, path)
            await stage.press("d")
        theirs = contents(root)
        assert theirs != before
        await stage.press("ctrl+s")
        await stage.wait_for(lambda: "Reverted 5 notes" in stage.toasts)
        assert contents(root) == before
        await stage.wait_for(lambda: stage.main._changing.can_undo)
        await stage.press("u")
        await stage.wait_for(lambda: "Undone" in stage.toasts)
        assert contents(root) == theirs
        await stage.wait_for(lambda: stage.main._changing.can_redo)
        await stage.press("U")
        await stage.wait_for(lambda: "Redone" in stage.toasts)
        assert contents(root) == before
        await leave(stage)
        await stage.wait_for(lambda: "new in the inbox" not in stage.top)
    assert new_in(root) == []


@pytest.mark.parametrize("path", ["ports.md", "MEMORY.md", "tides.md", "berths.md", "locks.md"])
async def test_one_alone_is_reverted(tmp_path: Path, path: str) -> None:
    root = recorded(tmp_path)
    before = contents(root)
    agent_session(root)
    async with in_inbox(root) as stage:
        await choose(stage, path)
        await stage.press("d", "ctrl+s")
        await stage.wait_for(lambda: "Reverted 1 note" in stage.toasts)
    now = contents(root)
    for name in {"berths.md": ["quays.md"], "locks.md": []}.get(path, [path]):
        assert now[name] == before[name]
    assert ("locks.md" in now) is (path != "locks.md")
    if path == "ports.md":
        assert b"[Ports](ports.md) \xe2\x80\x94 where they are\n" in now["MEMORY.md"]


async def test_of_a_hard_link_it_is_asked_before_it_is_reverted(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    agent_session(root)
    (tmp_path / "other").hardlink_to(root / "tides.md")
    theirs = (root / "tides.md").read_bytes()
    async with in_inbox(root) as stage:
        await choose(stage, "tides.md")
        await stage.press("d", "ctrl+s")
        await stage.shows(ProposalScreen)
        await stage.paints("hard-linked (outside the memory)")
        await stage.press("escape")
        await stage.shows(InboxScreen)
        assert (root / "tides.md").read_bytes() == theirs
        await stage.press("ctrl+s")
        await stage.shows(ProposalScreen)
        await stage.press("ctrl+s")
        await stage.wait_for(lambda: "Reverted 1 note" in stage.toasts)
    assert (root / "tides.md").read_text() == BEFORE["tides.md"]
    assert (tmp_path / "other").read_bytes() == theirs


async def test_one_hunk_is_reverted(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    agent_session(root)
    async with in_inbox(root) as stage:
        await choose(stage, "tides.md")
        await stage.press("space", "space")
        await stage.wait_for(lambda: "revert 1 of it" in text_of(screen_of(stage)._list))
        await stage.press("ctrl+s")
        await stage.wait_for(lambda: "Reverted 1 note" in stage.toasts)
        text = (root / "tides.md").read_text()
        assert "Line 2 of" in text
        assert "Two of" not in text
        assert "25 of the" in text
        assert "Line 25" not in text
        await choose(stage, "tides.md")
        await stage.wait_for(lambda: "Two of" not in text_of(screen_of(stage)._diff))
        stage.app.clear_notifications()
        await stage.press("1", "space", "space")
        await stage.wait_for(lambda: "revert 1 of it" in text_of(screen_of(stage)._list))
        await stage.press("ctrl+s")
        await stage.wait_for(lambda: "Reverted 1 note" in stage.toasts)
    assert (root / "tides.md").read_text() == BEFORE["tides.md"]


async def test_what_was_not_scrolled_to_stays_new(tmp_path: Path) -> None:
    files = {**BEFORE, "long.md": note_text("long", "".join(f"Old {n}.\n" for n in range(200)))}
    root = recorded(tmp_path, files)
    write(root, "buoys.md", note_text("buoys", "Green to port.\n"))
    write(root, "long.md", note_text("long", "".join(f"New {n}.\n" for n in range(200))))
    async with in_inbox(root) as stage:
        await choose(stage, "long.md")
        await stage.press("pagedown")
        await leave(stage)
        await stage.wait_for(lambda: "1 new in the inbox" in stage.top)
    assert new_in(root) == ["long.md"]
    async with in_inbox(root) as stage:
        await stage.press("2", "G")
        screen = screen_of(stage)
        await stage.wait_for(lambda: screen.arrival.id in screen._judging.seen)
        await leave(stage)
    assert new_in(root) == []


async def test_later_is_new_again_and_keep_is_not(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    agent_session(root)
    async with in_inbox(root) as stage:
        await choose(stage, "tides.md")
        await stage.press("l")
        await stage.wait_for(lambda: "later" in text_of(screen_of(stage)._list))
        await choose(stage, "locks.md")
        await stage.press("a")
        await stage.wait_for(lambda: "kept" in text_of(screen_of(stage)._list))
        await stage.press("A")
        await stage.wait_for(lambda: text_of(screen_of(stage)._list).count("kept") == 4)
        await leave(stage)
    assert new_in(root) == ["tides.md"]


async def test_undo_reverts_all_that_was_kept_at_once_also_after_the_visit(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    agent_session(root)
    before, arrived = contents(root), new_in_recorded(root)
    async with in_inbox(root) as stage:
        await stage.press("A")
        await stage.wait_for(lambda: text_of(screen_of(stage)._list).count("kept") == len(arrived))
        await leave(stage)
        assert new_in(root) == []
        await stage.wait_for(lambda: stage.main._changing.can_undo)
        await stage.press("u")
        await stage.wait_for(lambda: "Undone: “keep” of others' changes to " in stage.toasts)
        assert new_in(root) == arrived
        await stage.wait_for(lambda: stage.main._changing.can_redo)
        await stage.press("U")
        await stage.wait_for(lambda: new_in(root) == [])
    assert contents(root) == before


async def test_marked_and_unwritten_stays_new(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    agent_session(root)
    after = contents(root)
    async with in_inbox(root) as stage:
        await choose(stage, "ports.md")
        await stage.press("d")
        await leave(stage)
        await stage.wait_for(lambda: "were not written" in stage.toasts)
    assert contents(root) == after
    assert "ports.md" in new_in(root)


async def test_earlier_visits_can_only_be_looked_at(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    write(root, "ports.md", note_text("ports", "Setubal.\n"))
    async with in_inbox(root) as stage:
        await leave(stage)
    assert count_visits(notebook_of(root)) == 1
    write(root, "buoys.md", note_text("buoys", "Green to port.\n"))
    async with in_inbox(root) as stage:
        screen = screen_of(stage)
        assert [it.path for it in screen._arrivals] == ["buoys.md"]
        await stage.press("left_square_bracket")
        await stage.wait_for(lambda: [it.path for it in screen._arrivals] == ["ports.md"])
        await stage.press("d", "a", "l", "A", "space", "ctrl+s")
        assert "Earlier visits are read-only" in stage.toasts
        await stage.press("right_square_bracket")
        await stage.wait_for(lambda: [it.path for it in screen._arrivals] == ["buoys.md"])
    assert "Setubal" in (root / "ports.md").read_text()


async def test_an_agent_writes_while_the_inbox_is_open(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    write(root, "ports.md", note_text("ports", "Setubal.\n"))
    async with in_inbox(root) as stage:
        screen = screen_of(stage)
        await stage.press("d")
        write(root, "buoys.md", note_text("buoys", "Green to port.\n"))
        await stage.wait_for(lambda: len(screen._arrivals) == 2)
        assert screen.arrival.path in ("ports.md", "buoys.md")
        write(root, "ports.md", note_text("ports", "Setubal and Sines.\n"))
        await stage.wait_for(lambda: not screen._judging.marks, "the mark to go: it is other now")


async def test_the_first_opening_says_so_and_judges_nothing_as_new(tmp_path: Path) -> None:
    async with staged(build(tmp_path, BEFORE)) as stage:
        await stage.wait_for(lambda: "History started for this memory: 4 notes" in stage.toasts)
        await open_inbox(stage)
        assert "Nothing new" in text_of(screen_of(stage)._list)
        await leave(stage)


async def test_opening_the_notebook_moves_no_mark(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    agent_session(root)
    for _ in range(2):
        async with staged(root) as stage:
            await stage.wait_for(lambda: "5 new in the inbox" in stage.top)
            await stage.press("3", "L", "escape")
    assert len(new_in(root)) == 5


async def test_a_deletion_among_other_changes_arrives_while_the_notebook_is_open(
    tmp_path: Path,
) -> None:
    root = recorded(tmp_path)
    async with staged(root) as stage:
        await stage.wait_for(lambda: stage.main._navigation.is_counted)
        agent_session(root)
        await stage.wait_for(lambda: "5 new in the inbox" in stage.top)
    assert {it.path for it in read_inbox(notebook_of(root)).pending} == {
        *("locks.md", "tides.md", "ports.md", "berths.md", "MEMORY.md")
    }


async def test_only_what_is_stable_is_recorded(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    async with staged(root) as stage:
        await stage.wait_for(lambda: stage.main._navigation.is_counted)
        began = time.monotonic()
        n = 0
        while time.monotonic() - began < 1.0:
            (root / "ports.md").write_text(note_text("ports", f"Version {n}.\n"))
            n += 1
            await stage.pilot.pause(0.05)
            assert new_in(root) == []
        await stage.wait_for(lambda: "1 new in the inbox" in stage.top)
    with sqlite3.connect(Path(os.environ["RICORDO_STATE"]) / "history.db") as db:
        kept = db.execute("SELECT count(*) FROM op WHERE path = 'ports.md'").fetchone()
    assert kept == (2,)


async def test_what_others_put_back_is_told(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    stale = note_text("ports", "Setubal.\n")
    write(root, "ports.md", stale)
    async with in_inbox(root) as stage:
        await stage.press("d", "ctrl+s")
        await stage.wait_for(lambda: "Reverted 1 note" in stage.toasts)
        await leave(stage)
        (root / "ports.md").write_text(stale)
        await stage.wait_for(lambda: "reverted your change of ports.md" in stage.toasts)
        assert stage.toasts.count("Another program reverted") == 1
        assert (root / "ports.md").read_text() == stale


@pytest.mark.parametrize("fault", ["unusable", "corrupt", "newer", "transcripts"])
async def test_a_broken_history_never_stops_the_start(
    tmp_path: Path, pinned: Path, fault: str
) -> None:
    root = recorded(tmp_path)
    state = Path(os.environ["RICORDO_STATE"])
    if fault == "newer":
        with sqlite3.connect(state / "history.db") as db:
            db.execute("PRAGMA user_version = 99")
    elif fault == "transcripts":
        (state / "activity.db").write_bytes(b"no database at all" * 100)
    elif fault == "corrupt":
        for name in ("history.db-wal", "history.db-shm"):
            (state / name).unlink(missing_ok=True)
        (state / "history.db").write_bytes(b"no database at all" * 100)
    else:
        for file in state.iterdir():
            file.unlink()
        state.rmdir()
        state.write_text("a file where our directory would be")
    said = {
        "newer": "newer Ricordo",
        "corrupt": "was damaged",
        "unusable": "cannot be used",
        "transcripts": "was moved to",
    }
    async with staged(root) as stage:
        await stage.wait_for(lambda: said[fault] in stage.toasts)
        assert "Tides" in stage.index_text
        write(root, "ports.md", note_text("ports", "Setubal.\n"))
        await stage.wait_for(lambda: "●" in stage.index_text)


async def test_four_thousand_notes_are_recorded_after_they_are_shown(tmp_path: Path) -> None:
    root = build(tmp_path, {f"note_{n:05}.md": f"Note {n}.\n" for n in range(4_000)})
    async with on_stage(notebook_app(root)) as stage:
        await stage.wait_for(lambda: isinstance(stage.app.screen, MainScreen))
        await stage.wait_for(lambda: stage.looked)
        assert not stage.main._navigation.is_counted
        await stage.wait_for(lambda: "this memory: 4,000 notes" in stage.toasts)
        await open_inbox(stage)
        await leave(stage)


# History


async def in_history(stage: Stage, path: str) -> HistoryScreen:
    await stage.wait_for(lambda: stage.main._navigation.is_counted)
    if path:
        await stage.go_to(path)
    await stage.press("h")
    await stage.wait_for(lambda: isinstance(stage.app.screen, HistoryScreen))
    screen = stage.app.screen
    assert isinstance(screen, HistoryScreen)
    await stage.wait_for(lambda: screen.version is not None)
    return screen


async def test_versions_are_shown_compared_and_restored(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    first = (root / "ports.md").read_bytes()
    for text in ("Setubal.\n", "Faro.\n"):
        write(root, "ports.md", note_text("ports", text))
        notebook = notebook_of(root)
        notebook.record(notebook.read())
    async with staged(root) as stage:
        screen = await in_history(stage, "ports.md")
        assert [it.kind for it in screen._versions] == ["changed", "changed", "first"]
        await stage.wait_for(lambda: "Faro" in text_of(screen._diff))
        await stage.press("G")
        await stage.wait_for(lambda: "Sines." in text_of(screen._diff))
        await stage.press("equals_sign")
        await stage.wait_for(lambda: "Faro." in text_of(screen._diff))
        await stage.press("v", "enter")
        await stage.wait_for(lambda: isinstance(stage.app.screen, ProposalScreen))
        assert (root / "ports.md").read_bytes() != first
        await stage.press("ctrl+s")
        await stage.wait_for(lambda: "Restored" in stage.toasts)
        assert (root / "ports.md").read_bytes() == first
        await stage.wait_for(lambda: len(screen._versions) == 4)
        await stage.press("escape")
        assert isinstance(stage.app.screen, MainScreen)


async def test_a_note_that_is_gone_is_found_and_brought_back(tmp_path: Path) -> None:
    root = recorded(tmp_path)
    first = (root / "ports.md").read_bytes()
    (root / "ports.md").unlink()
    async with staged(root) as stage:
        screen = await in_history(stage, "tides.md")
        assert "deleted: 1 note" in text_of(screen._list)
        await stage.press("G", "enter")
        await stage.wait_for(lambda: screen.version and screen.version.path == "ports.md")
        await stage.press("enter")
        await stage.wait_for(lambda: len(screen._versions) == 2 and screen._path == "ports.md")
        await stage.settle()
        await stage.press("enter")
        await stage.wait_for(lambda: isinstance(stage.app.screen, ProposalScreen))
        await stage.press("ctrl+s")
        await stage.wait_for(lambda: "Restored" in stage.toasts)
        assert (root / "ports.md").read_bytes() == first
        await stage.press("escape", "escape")
        await stage.wait_for(lambda: screen._path == "tides.md")
