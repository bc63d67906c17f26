"""The review of the day on screen: every key, and that nothing that was said is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ricordo.storage.decisions import ReviewVerdict
from ricordo.tui.dialogs.change_set import ProposalScreen
from ricordo.tui.dialogs.choose import ChooseScreen
from ricordo.tui.dialogs.form import FormScreen
from ricordo.tui.dialogs.origin import OriginScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.render.line import MEASURE
from ricordo.tui.review.screen import ReviewScreen
from tests.tui.stage import NO_DELAY, Stage, build, editor, notebook_app, on_stage, staged
from tests.tui.test_inbox import notebook_of
from tests.tui.test_origin import with_transcript

HEAD = "---\nname: {}\ndescription: {}\nmetadata:\n  type: {}\n  modified: {}\n---\n\n{}\n"


def note(name: str, body: str, on: str, type_: str = "project") -> str:
    return HEAD.format(name, f"About the {name}", type_, on, body)


FILES = {
    "MEMORY.md": "# Tidepool\n\n- [Freeze](freeze.md) — no merges\n- [Port](port.md) — which\n"
    "- [Vendor](vendor.md) — the old one\n- [Ana](ana.md) — who she is\n",
    "freeze.md": note("freeze", "The merge freeze ends on 2026-11-02.", "2026-10-28"),
    "port.md": note("port", "The port is Sines.", "2026-06-01"),
    "vendor.md": note("vendor", "Their modem hung after a storm.\n" * 30, "2026-08-04"),
    "ana.md": note("ana", "Leads harbour software.", "2026-08-05", "user"),
}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let judging count from the first moment."""
    monkeypatch.setattr("ricordo.tui.base.action_screen.KEY_DELAY", NO_DELAY)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = build(tmp_path, FILES)
    notebook = notebook_of(root)
    notebook.record(notebook.read())
    return root


async def open_review(stage: Stage) -> ReviewScreen:
    """Wait until it is known what is due, and open the review."""
    await stage.wait_for(lambda: stage.main._reviewing._queue, "what is due")
    await stage.press("R")
    await stage.shows(ReviewScreen)
    assert isinstance(stage.app.screen, ReviewScreen)
    return stage.app.screen


@asynccontextmanager
async def reviewing(
    root: Path, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Stage, ReviewScreen]]:
    async with staged(root, size) as stage:
        yield stage, await open_review(stage)


def here(screen: ReviewScreen) -> str:
    return screen.item.note.path if screen.item else ""


def said(root: Path) -> dict[str, ReviewVerdict]:
    """What stands, as the next start reads it."""
    standing = notebook_of(root).verdicts.find_active()
    return {path: it[-1].verdict for path, it in standing.items()}


async def goes_to(stage: Stage, screen: ReviewScreen, path: str) -> None:
    await stage.wait_for(lambda: here(screen) == path, path or "the end")


async def test_one_note_at_a_time_with_what_speaks_against_it(root: Path) -> None:
    async with reviewing(root) as (stage, screen):
        painted = stage.painted()
        assert "Review  1 of 3" in painted
        assert "passed-date" in painted
        assert "The merge freeze ends on 2026-11-02." in painted
        assert "written 23 days ago" in painted
        await stage.press("down")
        assert here(screen) == "port.md"
        assert "stale since" in stage.painted()


async def test_prose_keeps_its_measure_on_a_wide_screen_and_tables_and_code_do_not(
    tmp_path: Path,
) -> None:
    wide = " ".join(["harbour"] * 20)
    body = f"{'The tide table is in metres. ' * 9}\n\n| a | b |\n|---|---|\n| {wide} | ebb |\n"
    code = f"```\n{wide}\n```\n"
    root = build(tmp_path, {"port.md": note("port", body + code, "2026-06-01")})
    async with reviewing(root, (200, 60)) as (stage, screen):
        await stage.wait_for(lambda: here(screen) == "port.md", "the note")
        rows = [row.strip("│ ") for row in stage.painted().split("\n")]
        prose = [len(row) for row in rows if "tide table" in row or "metres" in row]
        assert 80 < max(prose) <= MEASURE
        assert sum(wide in row for row in rows) == 2


async def test_the_origin_of_the_note_opens_and_leads_back(root: Path) -> None:
    with_transcript(root, "port.md")
    async with reviewing(root) as (stage, screen):
        await stage.press("O")
        await stage.wait_for(lambda: "No transcript shows" in stage.toasts)
        await stage.press("down")
        await stage.wait_for(lambda: "O origin" in stage.painted(), "a known origin")
        await stage.press("O")
        await stage.shows(OriginScreen)
        await stage.wait_for(lambda: "the port is Sines" in stage.painted(), "the quote")
        await stage.press("escape")
        await stage.wait_for(lambda: stage.app.screen is screen)
        assert here(screen) == "port.md"


async def test_still_true_goes_on_and_lasts(root: Path) -> None:
    async with reviewing(root) as (stage, screen):
        await stage.press("down", "a")
        await goes_to(stage, screen, "vendor.md")
        assert said(root) == {"port.md": ReviewVerdict.TRUE}
        await stage.wait_for(lambda: "1/3" in stage.painted(), "the bar that fills")
        await stage.press("escape")
        await stage.wait_for(lambda: "R review 2" in stage.bottom, "one less")
    assert (root / "port.md").read_text() == FILES["port.md"]


async def test_wrong_is_left_to_the_curator(root: Path) -> None:
    async with reviewing(root) as (stage, screen):
        await stage.press("d")
        await stage.shows(ChooseScreen)
        await stage.press("down", "down", "enter")
        await goes_to(stage, screen, "port.md")
        assert said(root) == {"freeze.md": ReviewVerdict.WRONG}
        await stage.press("d")
        await stage.shows(ChooseScreen)
        await stage.press("escape")
        await stage.shows(ReviewScreen)
        assert here(screen) == "port.md"
        assert said(root) == {"freeze.md": ReviewVerdict.WRONG}


async def test_wrong_is_retired_through_the_writer(root: Path) -> None:
    async with reviewing(root) as (stage, screen):
        await stage.press("down", "d")
        await stage.shows(ChooseScreen)
        await stage.press("2")
        await stage.shows(ProposalScreen)
        await stage.confirm()
        await goes_to(stage, screen, "vendor.md")
        assert not (root / "port.md").exists()
        assert "port.md" not in (root / "MEMORY.md").read_text()
        await stage.press("u")
        await goes_to(stage, screen, "port.md")
        assert (root / "port.md").read_text() == FILES["port.md"]


@pytest.mark.parametrize("keys", [("e",), ("d", "1")])
async def test_an_edited_note_stays_to_be_judged(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...]
) -> None:
    monkeypatch.setenv("EDITOR", editor(tmp_path, 'sed -i s/Sines/Setubal/ "$1"'))
    monkeypatch.delenv("VISUAL", raising=False)
    async with reviewing(root) as (stage, screen):
        await stage.press("down", *keys)
        await stage.wait_for(lambda: "Setubal" in (root / "port.md").read_text(), "the edit")
        await stage.shows(ReviewScreen)
        await stage.paints("The port is Setubal.")
        assert here(screen) == "port.md"
        await stage.press("a")
        await goes_to(stage, screen, "vendor.md")
        assert said(root) == {"port.md": ReviewVerdict.TRUE}


async def test_later_asks_again_on_a_day(root: Path) -> None:
    async with reviewing(root) as (stage, screen):
        for key in "123":
            path = here(screen)
            await stage.press("l")
            await stage.shows(ChooseScreen)
            await stage.press(key)
            await stage.wait_for(lambda path=path: here(screen) != path, "the next note")
        standing = notebook_of(root).verdicts.find_active()
        told = {path: (it.verdict, it.until) for path, (it,) in standing.items()}
        assert told == {
            "freeze.md": (ReviewVerdict.LATER, "2026-11-21"),
            "port.md": (ReviewVerdict.LATER, "2026-11-27"),
            "vendor.md": (ReviewVerdict.LATER, "2026-12-20"),
        }


async def test_later_asks_again_on_a_day_that_is_named(root: Path) -> None:
    async with reviewing(root) as (stage, screen):
        refused = {
            "2026-11-20": "is not in the future",
            "2027-02-30": "not in the calendar",
            "soon": "“soon” is not a date: write it as 2027-02-18",
        }
        for typed, why_not in (*refused.items(), ("2027-02-01", "")):
            await stage.press("l")
            await stage.shows(ChooseScreen)
            await stage.press("4")
            await stage.shows(FormScreen)
            await stage.type_ahead(*typed)
            await stage.confirm()
            await stage.shows(ReviewScreen)
            if why_not:
                await stage.wait_for(lambda why=why_not: why in stage.toasts, "why not")
        await goes_to(stage, screen, "port.md")
        assert notebook_of(root).verdicts.find_active()["freeze.md"][0].until == "2027-02-01"


async def test_u_undoes_the_last_verdict_and_goes_to_its_note(root: Path) -> None:
    async with reviewing(root) as (stage, screen):
        await stage.press("a")
        await goes_to(stage, screen, "port.md")
        await stage.press("a")
        await goes_to(stage, screen, "vendor.md")
        await stage.press("u")
        await goes_to(stage, screen, "port.md")
        assert said(root) == {"freeze.md": ReviewVerdict.TRUE}
        await stage.press("U")
        await stage.wait_for(lambda: len(said(root)) == 2, "it is said again")
        await stage.press("u", "u")
        await goes_to(stage, screen, "freeze.md")
        assert said(root) == {}
        await stage.press("u")
        await stage.wait_for(lambda: "nothing to undo" in stage.toasts, "why not")


async def test_it_ends_with_what_was_done_and_when_the_next_is_due(root: Path) -> None:
    async with reviewing(root, (80, 24)) as (stage, screen):
        await stage.press("a")
        await goes_to(stage, screen, "port.md")
        await stage.press("down", "l")
        await stage.shows(ChooseScreen)
        await stage.press("2")
        await goes_to(stage, screen, "")
        await stage.paints("Skipped notes are still due.")
        await stage.paints("Next note due on 27 November 2026.")
        painted = stage.painted()
        assert "1 still true, 1 later, 1 skipped." in painted
        assert "Reviews" in painted
        assert "Retention of the memory" in painted
        await stage.press("a")
        await stage.wait_for(lambda: "All notes were reviewed" in stage.toasts, "why not")
        await stage.press("up")
        assert here(screen) == "vendor.md"


async def test_a_long_note_is_read_to_its_end(root: Path) -> None:
    async with reviewing(root, (80, 24)) as (stage, screen):
        await stage.press("down", "down", "pagedown")
        assert screen._note.scroll_offset.y > 0
        await stage.press("home")
        assert screen._note.scroll_offset.y == 0
        await stage.press("end")
        end = screen._note.scroll_offset.y
        await stage.press("pageup")
        assert 0 < end > screen._note.scroll_offset.y


async def test_escape_loses_nothing(root: Path) -> None:
    async with reviewing(root) as (stage, screen):
        await stage.press("a")
        await goes_to(stage, screen, "port.md")
        await stage.press("escape")
        await stage.shows(MainScreen)
        assert said(root) == {"freeze.md": ReviewVerdict.TRUE}
        await stage.wait_for(lambda: "R review 2" in stage.bottom, "the rest")
        again = await open_review(stage)
        assert here(again) == "port.md"


async def test_keys_of_the_first_moment_judge_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.tui.base.action_screen.KEY_DELAY", 3600.0)
    async with reviewing(root) as (stage, screen):
        await stage.press("a", "d", "l")
        assert stage.app.screen is screen
        assert here(screen) == "freeze.md"
        await stage.paste("a\na\n")
        assert said(root) == {}
        monkeypatch.setattr("ricordo.tui.base.action_screen.KEY_DELAY", NO_DELAY)
        await stage.press("a")
        await goes_to(stage, screen, "port.md")


async def test_an_empty_review_says_so_and_when_the_next_is_due(tmp_path: Path) -> None:
    root = build(tmp_path, {name: FILES[name] for name in ("MEMORY.md", "ana.md")})
    notebook = notebook_of(root)
    notebook.record(notebook.read())
    async with reviewing(root) as (stage, _):
        await stage.paints("Nothing to review today.")
        await stage.paints("Next note due on ")


async def test_what_others_write_meanwhile_is_asked_for_again(root: Path) -> None:
    async with reviewing(root) as (stage, screen):
        await stage.press("a")
        await goes_to(stage, screen, "port.md")
        await stage.wait_for(lambda: screen.outcomes, "what was said")
        (root / "freeze.md").write_text(note("freeze", "It ends on 2026-11-12.", "2026-11-19"))
        await stage.wait_for(lambda: not screen.outcomes, "the text is another")
        await stage.press("up")
        await stage.paints("It ends on 2026-11-12.")


async def test_a_says_still_true_in_the_freshness_pane(root: Path) -> None:
    async with staged(root) as stage:
        await stage.go_to("port.md")
        assert "retention" in stage.freshness_text
        assert "written 172 days ago" in stage.freshness_text
        assert "stale since " in stage.freshness_text
        await stage.press("a")
        await stage.wait_for(lambda: "3 goes there" in stage.toasts, "where it is said")
        assert said(root) == {}
        await stage.press("3")
        assert "a still true" in stage.bottom
        await stage.press("a")
        await stage.wait_for(lambda: "Confirmed as still true: port" in stage.toasts, "it is kept")
        await stage.wait_for(lambda: "1.00" in stage.freshness_text, "the figure")
        assert "stale" not in [it.rule for it in stage.main._snapshot.by_path.get("port.md", ())]
        assert said(root) == {"port.md": ReviewVerdict.TRUE}
        await stage.wait_for(lambda: stage.main._changing.can_undo, "it can be undone")
        await stage.press("u")
        await stage.wait_for(lambda: not said(root), "it is taken back")
        await stage.wait_for(lambda: "never confirmed" in stage.freshness_text)


async def test_the_finder_finds_what_is_stale(root: Path) -> None:
    async with staged(root) as stage:
        await stage.press("ctrl+f")
        await stage.type_ahead(*"is:stale")
        await stage.paints("vendor.md")
        assert "ana.md" not in stage.painted()


async def test_the_command_opens_the_review_at_once(root: Path) -> None:
    app = notebook_app(root)
    app._opens_review = True
    async with on_stage(app) as stage:
        await stage.shows(ReviewScreen)
        await stage.paints("1 of 3")
        await stage.press("R")
        await stage.shows(MainScreen)
