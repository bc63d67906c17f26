from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ricordo.background import Throttle
from ricordo.memory.memory import Memory
from ricordo.search.index import SearchIndex
from ricordo.services.search.search import Search, SearchResults
from ricordo.services.search.usage import list_search_misses
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.tui.finder.screen import FinderScreen
from ricordo.tui.main.screen import MainScreen
from tests.support.builders import note_text
from tests.tui.stage import SMALL, Stage, build, notebook_app, on_stage, staged, text_of

Compare = Callable[..., bool]
HOSTILE = {
    **SMALL,
    "project_hostile.md": note_text(
        "project-[@click=app.quit]", "The mole \x1b]52;c;eA==\x07 [/red] of metres.\n"
    ),
}


@asynccontextmanager
async def finding(
    root: Path, words: str = "", size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Stage, FinderScreen]]:
    """Open the finder and type words."""
    async with staged(root, size) as stage:
        yield stage, await open_finder(stage, words)


async def opened_finder(stage: Stage) -> FinderScreen:
    await stage.press("ctrl+f")
    await stage.shows(FinderScreen)
    screen = stage.app.screen
    assert isinstance(screen, FinderScreen)
    return screen


async def open_finder(stage: Stage, words: str) -> FinderScreen:
    screen = await opened_finder(stage)
    await type_words(stage, screen, words)
    return screen


async def type_ahead(stage: Stage, screen: FinderScreen, words: str) -> None:
    """Type words, whatever was found."""
    await stage.press("ctrl+u")
    await stage.type_ahead(*words)
    await stage.wait_for(lambda: screen._wanted == words.strip(), words)


async def type_words(stage: Stage, screen: FinderScreen, words: str) -> None:
    await type_ahead(stage, screen, words)
    await stage.wait_for(lambda: screen.is_settled, "all that was found")
    await stage.settle()


def found(screen: FinderScreen) -> list[str]:
    return [it.hit.result.note.path for it in screen._found.hits]


async def test_names_come_before_what_is_said(tmp_path: Path) -> None:
    files = {**SMALL, "reference_mole.md": note_text("tables-of-moles", "Nothing of them.\n")}
    async with finding(build(tmp_path, files), "tables") as (stage, screen):
        assert found(screen)[0] == "reference_mole.md"
        assert "project_tides.md" in found(screen)[1:]
        assert "Found · " in stage.painted()


async def test_the_note_under_the_cursor_is_shown_where_it_says_so(tmp_path: Path) -> None:
    async with finding(build(tmp_path), "emptied") as (stage, screen):
        assert found(screen) == ["project_cache.md"]
        await stage.paints("Ask before the cache is emptied.")
        assert screen._preview.scroll_offset.y > 20
        await stage.press("enter")
        await stage.wait_for(lambda: stage.here == "project_cache.md")
        assert isinstance(stage.app.screen, MainScreen)


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        ("type:feedback", ["feedback_units.md"]),
        ("has:dead-link", ["user_ana.md"]),
        ('"never feet"', ["feedback_units.md"]),
        ("<user_ana", ["project_cache.md", "project_tides.md"]),
        (">project_cache -type:feedback", ["user_ana.md"]),
        ("after:2027-01", []),
        ('"never feet" OR >project_cache', ["feedback_units.md", "user_ana.md"]),
        ("tag:units OR has:dead-link", ["feedback_units.md", "user_ana.md"]),
    ],
)
async def test_conditions(tmp_path: Path, words: str, paths: list[str]) -> None:
    root = build(tmp_path)
    units = root / "feedback_units.md"
    units.write_text(f"{units.read_text()}\n#units\n")
    async with finding(root, words) as (_, screen):
        assert sorted(found(screen)) == paths


async def test_without_hits_the_finder_says_what_to_try(tmp_path: Path) -> None:
    async with finding(build(tmp_path), "metres type:user") as (stage, screen):
        assert found(screen) == []
        await stage.paints("Without type:user, 1 note matches.")


async def test_escape_leads_back_and_keeps_what_was_missed(tmp_path: Path) -> None:
    async with finding(build(tmp_path), "zeppelins moored") as (stage, screen):
        assert found(screen) == []
        await stage.paints("No note matches.")
        await stage.press("escape")
        await stage.wait_for(lambda: isinstance(stage.app.screen, MainScreen))
        notebook: Notebook = stage.main._notebook
        memory = stage.looked.snapshot.memory  # type: ignore[union-attr]
        await stage.wait_for(lambda: list_search_misses(notebook.environment, memory), "the gap")
        assert [gap.words for gap in list_search_misses(notebook.environment, memory)] == [
            "zeppelins moored"
        ]


async def test_enter_opens_what_fits_all_that_was_typed(tmp_path: Path) -> None:
    async with finding(build(tmp_path)) as (stage, _):
        await stage.type_ahead(*"units", "enter")
        await stage.wait_for(lambda: stage.here == "feedback_units.md")
        assert isinstance(stage.app.screen, MainScreen)


async def test_every_memory_is_searched_and_its_note_opened(tmp_path: Path, pinned: Path) -> None:
    other = pinned / ".claude/projects/-srv-harbour/memory"
    other.mkdir(parents=True)
    (other / "MEMORY.md").write_text("- [Buoys](buoys.md)\n- [Locks](locks.md)\n")
    (other / "buoys.md").write_text("Red to port.\n")
    (other / "locks.md").write_text("Shut at ebb, see [there](gone.md).\n")
    async with finding(build(tmp_path), "port") as (stage, screen):
        assert found(screen) == ["project_tides.md"]
        await stage.press("ctrl+f")
        await stage.paints("Find in every memory")
        await stage.wait_for(lambda: screen.is_settled)
        assert sorted(found(screen)) == ["buoys.md", "project_tides.md"]
        await type_words(stage, screen, "has:dead-link")
        assert sorted(found(screen)) == ["locks.md", "user_ana.md"]
        await type_words(stage, screen, "shut ebb")
        assert found(screen) == ["locks.md"]
        await stage.paints("harbour")
        await stage.press("ctrl+f")
        await stage.wait_for(lambda: screen.is_settled and found(screen) == [])
        await stage.press("ctrl+f", "enter")
        await stage.wait_for(lambda: isinstance(stage.app.screen, MainScreen))
        await stage.wait_for(lambda: stage.main.root == str(other) and stage.looked)
        await stage.wait_for(lambda: stage.here == "locks.md")


async def test_what_is_wrong_is_found_once_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, judge = threading.Event(), Notebook.judge

    def slowly(self: Notebook, memory: Memory) -> Snapshot:
        go_on.wait(20)
        return judge(self, memory)

    monkeypatch.setattr(Notebook, "judge", slowly)
    async with on_stage(notebook_app(build(tmp_path))) as stage:
        await stage.shows(MainScreen)
        await stage.wait_for(
            lambda: stage.main._reading.snapshot and stage.main._reading.snapshot.is_read
        )
        screen = await opened_finder(stage)
        await stage.type_ahead(*"has:dead-link")
        await stage.paints("checking the notes")
        go_on.set()
        await stage.wait_for(lambda: screen.is_settled)
        assert found(screen) == ["user_ana.md"]


async def test_the_text_of_notes_is_found_before_the_environment_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr("ricordo.git.run_git", lambda *_, **__: go_on.wait(20) and None)
    async with staged(build(tmp_path)) as stage:
        screen = await open_finder(stage, "emptied")
        assert found(screen) == ["project_cache.md"]
        go_on.set()


async def test_the_cursor_stays_on_its_hit_when_somebody_writes(tmp_path: Path) -> None:
    root = build(tmp_path)
    async with finding(root, "tables") as (stage, screen):
        await stage.press("down")
        here = screen.hit.hit.result.note.path  # type: ignore[union-attr]
        assert here != found(screen)[0]
        (root / "new.md").write_text(note_text("tables", "Of the sea.\n"))
        await stage.wait_for(lambda: "new.md" in found(screen))
        assert screen.hit.hit.result.note.path == here  # type: ignore[union-attr]


async def test_a_condition_that_nobody_understands_is_told(tmp_path: Path) -> None:
    async with finding(build(tmp_path), "metres after:yesterday") as (stage, screen):
        assert found(screen) == []
        await stage.paints("after: expects 2026-05")
        await type_words(stage, screen, "type:")
        await stage.paints("type: expects project")
        await stage.press("escape")
        await stage.shows(MainScreen)
        notebook: Notebook = stage.main._notebook
        assert list_search_misses(notebook.environment, notebook.read()) == []


async def test_nobody_waits_for_the_index_of_a_notebook_that_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    ended = threading.Event()
    bring_up = SearchIndex.update

    def slowly(self: SearchIndex, memory: Any, progress: Any = None) -> None:
        bring_up(self, memory)
        try:
            for number in range(1000):
                told.append(number)
                progress(number, 1000)
                time.sleep(0.02)
        finally:
            ended.set()

    monkeypatch.setattr(SearchIndex, "update", slowly)
    async with staged(build(tmp_path)) as stage:
        await stage.press("ctrl+f")
        await stage.wait_for(lambda: told)
    assert await asyncio.to_thread(ended.wait, 15)
    assert len(told) < 1000


async def test_names_are_found_while_the_index_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    bring_up = SearchIndex.update

    def slowly(self: SearchIndex, memory: Any, progress: Any = None) -> None:
        progress(2, 5)
        go_on.wait(20)
        bring_up(self, memory, progress)

    monkeypatch.setattr(SearchIndex, "update", slowly)
    async with staged(build(tmp_path)) as stage:
        screen = await opened_finder(stage)
        await stage.type_ahead(*"cache")
        await stage.paints("building the index: 2 of 5 notes")
        await stage.wait_for(lambda: found(screen) == ["project_cache.md"])
        await stage.paints("Searching … · 1 so far")
        await type_ahead(stage, screen, "emptied")
        await stage.paints("Searching …")
        assert "Found · 0" not in stage.painted()
        assert "No note matches" not in stage.painted()
        await type_ahead(stage, screen, "cache")
        go_on.set()
        await stage.wait_for(lambda: screen.is_settled)
        await stage.wait_for(lambda: "user_ana.md" in found(screen))
        await stage.paints("Found · ")


async def test_what_goes_on_behind_the_finder_waits_for_what_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    find = Search.find

    def watched(self: Search, *words: Any) -> SearchResults:
        way = Throttle(patience=0.2)
        time.sleep(0.02)
        before = time.monotonic()
        way.step()
        waited.append(time.monotonic() - before)
        return find(self, *words)

    monkeypatch.setattr(Search, "find", watched)
    async with finding(build(tmp_path), "cache"):
        assert min(waited) >= 0.2


async def test_a_note_reminds_of_others_and_leads_there_hop_after_hop(tmp_path: Path) -> None:
    async with staged(build(tmp_path)) as stage:
        await stage.go_to("project_tides.md")
        await stage.think()
        assert "reminds of  project_cache (via user_ana)" in stage.note_text
        await stage.press("2", "left", "enter")
        await stage.wait_for(lambda: stage.here == "project_cache.md")
        await stage.think()
        assert "reminds of  project_tides (via user_ana)" in stage.note_text
        await stage.press("G", "left", "enter")
        await stage.wait_for(lambda: stage.here == "project_tides.md")
        await stage.press("left_square_bracket")
        await stage.wait_for(lambda: stage.here == "project_cache.md")


async def test_associated_notes_are_listed_once_whatever_changes_elsewhere(
    tmp_path: Path,
) -> None:
    root = build(tmp_path)
    async with staged(root) as stage:
        await stage.go_to("project_tides.md")
        await stage.think()
        (root / "elsewhere.md").write_text(note_text("elsewhere", "Of the sea.\n"))
        await stage.wait_for(
            lambda: stage.looked and "elsewhere.md" in stage.looked.snapshot.by_path
        )
        await stage.think()
        assert stage.note_text.count("reminds of") == 1


async def test_before_anything_is_typed_notes_for_the_environment_are_shown(tmp_path: Path) -> None:
    root = build(tmp_path)
    folder = tmp_path / "harbour"
    folder.mkdir()
    async with staged(root, cwd=folder) as stage:
        screen = await open_finder(stage, "")
        await stage.paints("Relevant to where you work now")
        await stage.wait_for(lambda: found(screen)[:1] == ["user_ana.md"])
        await type_words(stage, screen, "metres")
        await type_words(stage, screen, "")
        await stage.wait_for(lambda: found(screen)[:1] == ["user_ana.md"])


async def test_no_query_disturbs_the_screen(tmp_path: Path) -> None:
    async with finding(build(tmp_path, HOSTILE)) as (stage, screen):
        for words in ('"', "(* OR", "[/red] mole", "';--", "名前", "a" * 500):
            await type_words(stage, screen, words)
        await type_words(stage, screen, "mole")
        assert "project_hostile.md" in found(screen)
        assert not any(char < " " and char != "\n" for char in stage.painted())
        assert "␛]52" in text_of(screen._list)


@pytest.mark.parametrize(
    ("size", "theme"),
    [((80, 24), "ricordo-light"), ((120, 40), "ricordo-dark"), ((200, 60), "ricordo-light")],
    ids=["80x24", "120x40", "200x60"],
)
def test_looks(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], theme: str) -> None:
    app = notebook_app(build(tmp_path, HOSTILE))
    app.theme = theme

    async def ready(pilot: Any) -> None:
        stage = Stage(app, pilot)
        await stage.wait_for(lambda: stage.looked)
        await stage.wait_for(lambda: stage.main._navigation.is_counted)
        await open_finder(stage, "metres")
        await stage.hush()

    assert snap_compare(app, terminal_size=size, run_before=ready)
