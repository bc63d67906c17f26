"""Handoffs on the screen: from the key w to a written, copied, piped and undone handoff."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from shlex import quote

import pytest

from ricordo.errors import WriteFailed, WrongUsage
from ricordo.handoff.document import ProofStatus
from ricordo.handoff.format import DocumentState, parse
from ricordo.tui.dialogs.change_set import ProposalScreen
from ricordo.tui.dialogs.form import ConfirmScreen
from ricordo.tui.handoff import drafter
from ricordo.tui.handoff.draft import DraftOptions, StatementChoice
from ricordo.tui.handoff.drafter import Drafter
from ricordo.tui.handoff.engine_screen import EngineScreen
from ricordo.tui.handoff.fact_rows import draw_fact, render_fact
from ricordo.tui.handoff.pipe_screen import PipeForm, PipeScreen
from ricordo.tui.handoff.screen import HandoffScreen
from ricordo.tui.handoff.sessions_screen import SessionsScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.widgets.text_view import TextView
from tests.support.transcripts import OTHER, SESSION
from tests.tui.handing import (
    ALARM,
    LATER,
    WISH,
    draft_of,
    drafted,
    drafting,
    go_to,
    let_work,
    project,
    sessions,
)
from tests.tui.stage import Stage, editor, staged, text_of
from tests.tui.test_inbox import notebook_of

SECRET = "kV7-ebb-Tide-9z!Q4"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    memory = project(tmp_path)
    let_work(memory, WISH, LATER)
    return memory


def handoff(root: Path) -> Path:
    return root.parent / "HANDOFF.md"


async def written(stage: Stage, screen: HandoffScreen) -> str:
    """Write what is shown; return the text of the file."""
    await stage.press("ctrl+s")
    await stage.wait_for(lambda: screen.written, "it written")
    return Path(screen.written).read_text()


# From the sessions to what is written


async def test_statements_are_decided_and_only_ctrl_s_writes_the_draft(root: Path) -> None:
    async with drafting(root) as (stage, screen):
        shown = draft_of(screen)
        for glyph, words in (
            ("❝", "Asked first"),
            ("↻", "`pytest -q tests/test_alarm.py` succeeded"),
            ("✓", f"`{ALARM}` (transcript: edited"),
            ("❝", "The agent on remaining work"),
        ):
            assert f" {glyph} {words}" in shown
        # the facts of a statement are marked, and listed below it
        await go_to(stage, screen, f"`{ALARM}` (transcript: edited")
        assert [row for row in text_of(screen._list).split("\n") if "▸" in row] == [
            next(row for row in text_of(screen._list).split("\n") if ALARM in row)
        ]
        assert f"verified: {ALARM} is" in text_of(screen._about)
        await go_to(stage, screen, LATER)
        await stage.press("d")
        screen = await drafted(stage)
        assert "dropped · d includes it again" in draft_of(screen)
        assert not handoff(root).exists()
        text = await written(stage, screen)
        assert LATER not in text
        assert WISH in text
        assert parse(text.encode()).state is DocumentState.UNCHANGED
        await stage.wait_for(lambda: stage.main._changing.can_undo, "something to undo")
        await stage.press("u")
        await stage.wait_for(lambda: not handoff(root).exists(), "the undo")
        # what was dropped stays dropped, until it is taken in again
        await stage.press("escape", "enter")
        screen = await drafted(stage)
        await go_to(stage, screen, LATER)
        await stage.press("d")
        await drafted(stage)
        assert LATER in screen.finished.output.text  # type: ignore[union-attr]


async def test_an_edited_statement_is_marked_as_reworded_and_checked_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, 'echo "Round nothing, ever." > "$1"'))
    async with drafting(root) as (stage, screen):
        await go_to(stage, screen, LATER)
        await stage.press("e")
        await stage.paints("Round nothing, ever.  ✎ your words")
        await drafted(stage)
        assert "unverified: your own words" in text_of(screen._about)
        (root.parent / ALARM).write_text("def fire(): return 1\n")
        await stage.press("ctrl+r")
        await drafted(stage)
        assert "? Round nothing, ever." in draft_of(screen)
        assert f"? `{ALARM}` (transcript: edited" in draft_of(screen)
        assert "✗ `pytest -q tests/test_alarm.py` succeeded" in draft_of(screen)
        text = await written(stage, screen)
        assert "- Round nothing, ever. [unverified]" in text
        assert f"{ALARM} changed since]" in text
        assert LATER not in text


async def test_statements_over_the_budget_are_listed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(draft: object) -> None:
        raise WrongUsage("It does not fit.")

    long = " ".join(f"Berth {n} is for ships of {n} metres." for n in range(80))
    let_work(root, f"Always keep to this. {long}", session=OTHER, days=1)
    async with drafting(root) as (stage, screen):
        for typed in ("x", "600"):
            await stage.press("b", *["backspace"] * 4, *typed)
            await stage.confirm()
            await stage.shows(HandoffScreen)
        await stage.wait_for(lambda: screen.options.budget == 600, "the budget")
        await drafted(stage)
        assert "Not a budget: type a number of tokens" in stage.toasts
        assert "Over the budget of 600 tokens" in draft_of(screen)
        assert "under Objective" in draft_of(screen)
        assert screen.finished
        assert screen.finished.output.tokens <= 600
        # what was fitted before is not written in the place of what is wanted now
        with monkeypatch.context() as patched:
            patched.setattr(drafter, "finish_draft", refuses)
            await stage.press("d")
            await stage.wait_for(lambda: "It does not fit." in stage.toasts)
            await stage.press("ctrl+s")
        assert "The draft was not fitted to the budget" in stage.toasts
        while any(it.choice is not StatementChoice.DROPPED for it in screen._drafted):
            places = [it.choice is StatementChoice.DROPPED for it in screen._drafted]
            screen._draft.go_to(places.index(False))
            await stage.press("d")
        await drafted(stage)
        await stage.press("ctrl+s")
        assert "Every statement is dropped" in stage.toasts
        assert not handoff(root).exists()


def set_program(home: Path, program: str) -> None:
    """Set a program as the user's engine."""
    settings = home / ".config/ricordo/settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[engine]\ncommand = ["{program}"]\n')


async def choose_engine(stage: Stage) -> None:
    """Put the cursor on the program, and wait for its preview."""
    await stage.press("M")
    await stage.shows(EngineScreen)
    await stage.paints("They reword nothing")
    await stage.press("G")
    await stage.paints("| Make the berth alarm test green again.")


async def allow_program(stage: Stage) -> None:
    """Ask the chosen engine, a program that never ran before."""
    await stage.press("enter")
    await stage.shows(ConfirmScreen)
    await stage.press(*"run")
    await stage.confirm()


async def test_a_program_drafts_once_it_is_allowed_and_is_not_asked_again(
    root: Path, tmp_path: Path, pinned: Path
) -> None:
    asked = tmp_path / "asked"
    stated = {"section": "next", "facts": ["f1"], "quote": "", "text": "Round nothing."}
    answer = json.dumps({"statements": [stated]})
    set_program(pinned, editor(tmp_path, f"cat >> {quote(str(asked))}; echo '{answer}'"))
    async with drafting(root) as (stage, screen):
        await choose_engine(stage)
        assert not asked.exists()
        await allow_program(stage)
        await stage.wait_for(lambda: screen.options.engine, "the engine")
        await drafted(stage)
        await stage.paints("command editor")
        assert "? Round nothing." in draft_of(screen)
        told = asked.read_text()
        for key in ("t", "ctrl+r", "m"):
            await stage.press(key)
            await drafted(stage)
        assert "The engine chose the messages" in stage.toasts
        assert "? Round nothing." in draft_of(screen)
        assert asked.read_text() == told


def test_a_secret_is_neither_shown_nor_written(root: Path) -> None:
    let_work(root, f"The password is {SECRET}. Never change it.", session=OTHER, days=1)
    hands = Drafter(notebook_of(root))
    known = hands.find_sessions(lambda _: None)
    assert [it.id for it in known] == [OTHER, SESSION]
    gathered = hands.draft_sessions(known[:1], DraftOptions(), lambda _: None)
    shown = [draw_fact(row, 400, is_marked=False).text for row in gathered.fact_table.rows]
    full = [line.text for it in gathered.fact_table.by_id.values() for line in render_fact(it, 400)]
    made = hands.make(gathered, tuple(gathered.statements))
    assert "Never change it." in made.output.text
    for text in (*shown, *full, str(list(gathered.statements)), made.output.text):
        assert SECRET not in text
    assert made.handoff.header.redactions > 0
    assert "The password is [REDACTED:password:1]." in made.output.text


# Others' files


async def test_a_handoff_by_another_program_is_not_overwritten(root: Path) -> None:
    theirs = b"# Handoff\r\n\r\nBy hand.\r\n"
    handoff(root).write_bytes(theirs)
    async with drafting(root) as (stage, screen):
        assert "The handoff goes to HANDOFF.new.md." in stage.toasts
        await stage.paints("HANDOFF.new.md")
        await written(stage, screen)
        assert handoff(root).read_bytes() == theirs
        beside = handoff(root).with_name("HANDOFF.new.md")
        assert parse(beside.read_bytes()).state is DocumentState.UNCHANGED
        await stage.press("escape")
        screen = await sessions(stage)  # type: ignore[assignment]
        rows = text_of(screen._list)
        assert "⊘ not a handoff" in rows
        assert re.search(r"✓ \d+ verified", rows)


async def test_a_failed_write_is_reported_and_overwrites_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*given: object) -> None:
        raise WriteFailed("HANDOFF.md cannot be written: no space left.")

    async with drafting(root) as (stage, screen):
        with monkeypatch.context() as patched:
            patched.setattr(drafter, "build_overwrite", refuses)
            await stage.press("ctrl+s")
            await stage.wait_for(lambda: "no space left. Nothing was changed." in stage.toasts)
        assert stage.app.screen is screen
        assert not handoff(root).exists()
        handoff(root).write_text("theirs\n")
        await stage.press("ctrl+s")
        await stage.wait_for(lambda: "Another program wrote" in stage.toasts)
        assert handoff(root).read_text() == "theirs\n"
        assert not screen.written


# How true the handoffs are that were written before


async def test_an_earlier_handoff_lists_what_is_no_longer_valid(root: Path) -> None:
    async with drafting(root) as (stage, screen):
        await written(stage, screen)
        await stage.press("escape")
        chosen = await sessions(stage)
        listed = text_of(chosen._list)
        assert re.search(r"✓ \d+ verified", listed)
        assert "quoted" in listed
        (root.parent / ALARM).write_text("def fire(): return 1\n")
        await stage.press("ctrl+r")
        await sessions(stage)
        assert "no longer valid" in text_of(chosen._list)
        await stage.press("G")
        known = text_of(chosen._details)
        assert "was verified, outdated" in known
        assert f"{ALARM} changed since" in known
        assert f"changed  {ALARM}" in known
        await stage.press("enter")
        assert "An earlier handoff" in stage.toasts
        # several sessions are handed off together
        let_work(root, "Then the report.", session=OTHER, days=1)
        await stage.press("g", "ctrl+r")
        await sessions(stage)
        await stage.press("g", "space", "space", "enter")
        screen = await drafted(stage)
        assert len(screen.drafted.facts.sessions) == 2  # type: ignore[union-attr]
        assert WISH in screen.finished.output.text  # type: ignore[union-attr]
        assert "Then the report." in screen.finished.output.text  # type: ignore[union-attr]


async def test_without_sessions_the_screen_explains_itself(tmp_path: Path) -> None:
    async with staged(project(tmp_path), known=False) as stage:
        await stage.press("w")
        screen = await sessions(stage)
        assert "No sessions found" in text_of(screen._list)
        await stage.press("enter", "space", "2", "w")
        assert "No sessions found." in stage.toasts
        await stage.shows(MainScreen)


# Handing it on


async def test_a_draft_is_copied_and_piped_without_a_shell(root: Path) -> None:
    async with drafting(root) as (stage, screen):
        text = screen.finished.output.text  # type: ignore[union-attr]
        await stage.press("y")
        assert stage.app.clipboard == text
        # a line that cannot be run is asked again, and kept
        await stage.press("vertical_line", *"cat 'x|")
        await stage.confirm()
        assert "a quote is not closed" in stage.toasts
        await stage.press("'")
        await stage.paints("no shell")
        await stage.press("escape")
        await stage.shows(HandoffScreen)
        await stage.press("vertical_line")
        await stage.paints("cat 'x|'")
        await stage.press("escape")
        await pipe(stage, "grep -c 'no round|;>x'")
        await stage.paints("✗ the command failed")
        await stage.press("escape")
        await pipe(stage, "sh -c 'pwd; tr a-z A-Z'")
        await stage.paints("✓ the command ended")
        # the rows of a long path are put together again
        answer = text_of(stage.app.screen.query_one("#answer", TextView)).replace("\n", "")
        assert str(root.parent) in answer
        assert "THE SCHEMA" in answer
        await stage.press("escape")
        # one in a folder with a space needs no quotes where nothing follows
        program = editor(root.parent, 'echo "$# words"')
        await pipe(stage, program)
        await stage.paints("0 words")
        await stage.press("escape")
        await pipe(stage, f"{quote(program)} 'a b' c")
        await stage.paints("2 words")
        await stage.press("escape")
        # a command that does not end is ended with its screen
        alive = root.parent / "alive"
        await pipe(stage, f"sh -c 'echo $$ > \"$0\"; exec sleep 600' {quote(str(alive))}")
        await stage.wait_for(lambda: alive.exists() and alive.read_text().strip(), "its number")
        await stage.press("escape")
        await stage.wait_for(lambda: not is_alive(int(alive.read_text())), "its end")
        await stage.shows(HandoffScreen)
        assert not handoff(root).exists()


async def pipe(stage: Stage, line: str) -> None:
    await stage.shows(HandoffScreen)
    await stage.press("vertical_line")
    await stage.shows(PipeForm)
    form = stage.app.screen
    assert isinstance(form, PipeForm)
    form.query_one("#field-command").value = line  # type: ignore[attr-defined]
    await stage.settle()
    await stage.confirm()
    await stage.shows(PipeScreen)


def is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


async def test_naming_the_handoff_in_instructions_is_shown_as_a_change_first(root: Path) -> None:
    claude = root.parent / "CLAUDE.md"
    claude.write_text("# Rules\n")
    async with drafting(root) as (stage, screen):
        await stage.press("p")
        assert "The handoff is not written yet" in stage.toasts
        await written(stage, screen)
        await stage.press("p")
        await stage.wait_for(lambda: "No agent chosen" in stage.toasts)
        await stage.press("t")
        await drafted(stage)
        await stage.press("p")
        await stage.shows(ProposalScreen)
        await stage.paints("+ @HANDOFF.md")
        assert claude.read_text() == "# Rules\n"
        await stage.confirm()
        await stage.wait_for(lambda: "@HANDOFF.md" in claude.read_text(), "the line")


# Out of it at every point


async def test_a_cancelled_engine_leaves_the_draft_of_the_rules(
    root: Path, tmp_path: Path, pinned: Path
) -> None:
    asked = tmp_path / "asked"
    set_program(pinned, editor(tmp_path, f"echo $$ > {quote(str(asked))}; exec sleep 600"))
    async with drafting(root) as (stage, screen):
        before = draft_of(screen)
        await choose_engine(stage)
        await allow_program(stage)
        await stage.wait_for(lambda: asked.exists() and asked.read_text(), "the program asked")
        await stage.press("ctrl+s")
        await stage.press("escape")
        await stage.wait_for(lambda: screen._jobs.now is None, "it left")
        await stage.wait_for(lambda: not is_running(int(asked.read_text())), "the command ended")
        assert "Cancelled. Nothing was changed." in stage.toasts
        assert not handoff(root).exists()
        assert screen.options.engine is None
        assert draft_of(screen) == before
        # all goes on as if it had not been asked
        await stage.press("t")
        await drafted(stage)
        assert parse((await written(stage, screen)).encode()).state is DocumentState.UNCHANGED


def is_running(process: int) -> bool:
    """Whether a process of ours is there still."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def test_escape_cancels_the_job_and_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []

    def never_ends(*given: object) -> None:
        try:
            while True:
                given[-1]()  # type: ignore[operator]
                time.sleep(0.005)
        finally:
            ended.append("")

    async with staged(root, known=False) as stage:
        await stage.press("w")
        await sessions(stage)
        with monkeypatch.context() as patched:
            patched.setattr(drafter, "gather_input", never_ends)
            await stage.press("enter")
            await stage.paints("reading the sessions …")
            await stage.press("ctrl+s", "d")
            assert "Esc cancels" in stage.toasts or not handoff(root).exists()
            await stage.press("escape")
            await stage.shows(SessionsScreen)
            await stage.wait_for(lambda: ended, "the thread ended")
            assert "Cancelled. Nothing was changed." in stage.toasts
        # what is meant for another screen, or pasted, decides and writes nothing
        await stage.type_ahead("enter", "ctrl+s", "d")
        await stage.paste("\x13")
        screen = await drafted(stage)
        assert screen._decisions.wanted == screen._decisions._composed
        assert {it.status for it in screen._decisions.wanted} >= {
            ProofStatus.VERIFIED,
            ProofStatus.QUOTED,
        }
        await stage.press("1", "enter", "escape")
        await stage.shows(SessionsScreen)
    assert not handoff(root).exists()
