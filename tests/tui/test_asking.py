"""Curation by a model or a program: preview, incoming answer, failures and cancelling."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest

from ricordo.llm.prices import format_cost
from ricordo.services.ledger.ledger import LedgerRun, read_runs
from ricordo.tui.curation.redaction_screen import RedactionScreen
from ricordo.tui.curation.scope_screen import ScopeScreen
from ricordo.tui.dialogs.form import ConfirmScreen
from ricordo.tui.dialogs.ledger import LedgerScreen
from ricordo.tui.dialogs.text_page import HelpScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView
from tests.support import messages_replies as replies
from tests.support.asking import EMPTY, TOKEN, proposing, saying, write_program
from tests.support.curating import SAID, SESSION, user_lines
from tests.support.messages_server import (
    Asked,
    MessagesServer,
    Script,
    Wire,
    messages_server,
    without_credentials,
)
from tests.support.proposing import let_wait
from tests.tui.stage import PATIENCE, SMALL, Stage, build, staged, text_of, wait_for
from tests.tui.test_curation import CREATE, TIDES, files, reviewing, rows, states, waiting, written
from tests.tui.test_inbox import notebook_of

MOVED = {**EMPTY, "op": "replace", "note": "n3", "old": "Sines", "text": "Lagos"}
"""The brief names the notes by their order."""


@pytest.fixture
def root(pinned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a memory with a session in which something was said, a credential too."""
    without_credentials(monkeypatch, tmp_path)
    return project_with_talk(pinned)


def project_with_talk(home: Path) -> Path:
    """Return a memory in `home` whose project has a session."""
    project = home / ".claude/projects/-home-ana-work-tidepool"
    project.mkdir(parents=True)
    talk = user_lines(SAID, f"The token is {TOKEN}.")
    (project / f"{SESSION}.jsonl").write_text(talk, "utf-8")
    return build(home, SMALL).rename(project / "memory")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    """Return a server that the environment names, with a key for it."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    with messages_server(proposing(MOVED)) as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


@asynccontextmanager
async def choosing(
    root: Path, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Stage, ScopeScreen]]:
    """Open the curate screen with a model chosen, and wait for its preview; from the
    review, where something waits.
    """
    async with staged(root, size, known=False) as stage:
        await stage.press("c")
        if waiting(root):
            await reviewing(stage)
            await stage.press("c")
        screen = await wait_for_preview(stage)
        await stage.press("right")
        await wait_for_preview(stage)
        yield stage, screen


async def wait_for_preview(stage: Stage) -> ScopeScreen:
    """Wait for the preview on the curate screen."""
    await stage.shows(ScopeScreen)
    screen = stage.app.screen
    assert isinstance(screen, ScopeScreen)
    await stage.wait_for(lambda: screen.preview, "what is known before")
    await stage.settle()
    return screen


def keys_of(screen: ScopeScreen) -> str:
    return screen.query_one("#keys", Bar).text


def ledger(root: Path) -> tuple[LedgerRun, ...]:
    return read_runs(notebook_of(root).environment.state, str(root))[0]


# The whole way


async def test_a_model_proposes_a_change_that_is_written_and_undone(
    root: Path, server: MessagesServer
) -> None:
    before, may_answer = files(root), Event()

    def stalled(wire: Wire, asked: Asked) -> None:
        may_answer.wait(PATIENCE)
        proposing(MOVED)(wire, asked)

    server.scripts[:] = [stalled]
    async with choosing(root) as (stage, screen):
        for told in (
            f"claude-sonnet-5-5 · at {server.url}",
            "at most 12,000 written: at most $0.",
            "60,000 in this run, 500,000 in 24 hours, 5,000,000 in 30 days",
            "1 redacted: github-token 1",
        ):
            await stage.paints(told)
        assert not server.asked
        # the answer arrives while the help is open
        await stage.press("enter", "question_mark")
        await stage.shows(HelpScreen)
        may_answer.set()
        await stage.wait_for(lambda: screen.finished, "the answer")
        await stage.settle()
        assert isinstance(stage.app.screen, HelpScreen)
        await stage.press("escape")
        review = await reviewing(stage)
        assert list(states(review)) == ["replace project_tides"]
        assert "claude-sonnet-5-5 answered: 4,020 tokens sent, 77 written" in stage.toasts
        await stage.paints("anthropic claude-sonnet-5-5 · cost under $0.01")
        assert files(root) == before
        await stage.press("a")
        await written(stage, review)
        await stage.wait_for(lambda: [it.accepted for it in ledger(root)] == [1], "it credited")
        assert "The port is Lagos." in files(root)[TIDES]
        await stage.wait_for(lambda: stage.main._changing.can_undo, "something to undo")
        await stage.press("u")
        await stage.wait_for(lambda: waiting(root) == ["replace"], "it waits again")
        assert files(root) == before
        # the engine is remembered and the cost reported
        await stage.press("c")
        assert (await wait_for_preview(stage)).engine.use == "anthropic"
        await stage.paints("495,903 in 24 hours")
        await stage.press("escape", "escape")
        await stage.shows(MainScreen)
        await stage.press("dollar_sign")
        await stage.shows(LedgerScreen)
        await stage.paints("cost under $0.01  4,020 tokens sent, 77 written")
        await stage.paints("0 accepted, 0 refused of 1")
    assert SAID.encode() in server.received
    assert TOKEN.encode() not in server.received


async def test_a_program_is_shown_before_its_first_run(
    root: Path, pinned: Path, tmp_path: Path
) -> None:
    program = write_program(tmp_path / "model", saying(MOVED))
    config = pinned / ".config/ricordo/settings.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[engine]\nuse = "command"\ncommand = ["{program}", "two words"]\n')
    before = files(root)
    async with staged(root, known=False) as stage:
        await stage.press("c")
        await wait_for_preview(stage)
        await stage.paints("New program: Enter shows its command line and asks before it runs.")
        await stage.paints("price unknown")
        await stage.press("enter")
        await stage.shows(ConfirmScreen)
        told = text_of(stage.app.screen.query_one("#alarming", TextView))
        # where its lines end depends on how long the path of the program is
        told = " ".join(told.split())
        assert "'two words'" in told
        assert "turn off its memory, hooks and tools there" in told
        await stage.press("escape")
        await stage.shows(ScopeScreen)
        assert not (tmp_path / "given").exists()
        await stage.press("enter")
        await stage.shows(ConfirmScreen)
        await stage.press(*"run")
        await stage.confirm()
        review = await reviewing(stage)
        await stage.press("a")
        await written(stage, review)
        assert "The port is Lagos." in files(root)[TIDES]
        await stage.wait_for(lambda: stage.main._changing.can_undo, "something to undo")
        await stage.press("u")
        await stage.wait_for(lambda: waiting(root) == ["replace"], "it waits again")
        assert files(root) == before
        await stage.press("c")
        screen = await wait_for_preview(stage)
        assert screen.preview is not None
        assert screen.preview.egress is not None
        assert screen.preview.egress.program is None
    assert TOKEN not in (tmp_path / "given").read_text()


# Out of it at every point

FAILURES: dict[str, Script] = {
    "The server does not accept the key (401).": replies.error(401, "authentication_error"),
    "Choose a model that the key may use.": replies.error(403, "permission_error"),
    "Curate less at once: one note or one session.": replies.error(413, "request_too_large"),
    "It answers again in 60 minutes.": replies.error(
        429, "rate_limit_error", headers={"retry-after": "3600"}
    ),
    "The reply is not from a server of the Messages API.": replies.plain(200, b"<html>"),
    "The answer broke off in the middle.": replies.streamed(replies.message({})[:-1]),
    "The model refused to answer this brief.": replies.streamed(
        [replies.start(), *replies.ending("refusal")]
    ),
    "The answer does not match the requested schema": replies.good({"edits": [{"op": "replace"}]}),
}
"""What is told, and what makes it be told."""


async def test_every_failure_is_shown_above_the_brief_and_changes_nothing(
    root: Path, server: MessagesServer
) -> None:
    before = files(root)
    async with choosing(root) as (stage, screen):
        for told, script in FAILURES.items():
            server.scripts[:] = [script]
            await stage.press("enter")
            await stage.wait_for(lambda told=told: told in screen.failure, told)
            assert screen.failure.endswith("Nothing was changed.")
            await wait_for_preview(stage)
            await stage.paints(screen.failure[:40])
        # the remaining budget shows the cost
        assert "500,000 in 24 hours" not in stage.painted()
    assert files(root) == before
    assert waiting(root) == []
    assert TOKEN.encode() not in server.received


async def test_a_note_that_a_model_rejects_is_listed_as_not_read(
    root: Path, server: MessagesServer
) -> None:
    refused = replies.streamed([replies.start(), *replies.ending("refusal")])
    made = {**EMPTY, "op": "create", "name": "port", "type": "project", "text": "It is Lagos."}

    def picky(wire: Wire, asked: Asked) -> None:
        (refused if "note n3\\n" in asked.body.decode() else proposing(made))(wire, asked)

    server.scripts[:] = [picky]
    talk = user_lines(SAID, "Which port are the tide tables for? For Lagos, remember that.")
    (root.parent / f"{SESSION}.jsonl").write_text(talk, "utf-8")
    async with choosing(root) as (stage, _):
        await stage.paints(
            "If rejected as a whole, the brief is sent in parts: at most $0.27 in all."
        )
        await stage.press("enter")
        review = await reviewing(stage)
        await stage.paints("── not read ─")
        await stage.paints(TIDES)
        await stage.press("G")
        await stage.paints("refused by the model; you can still open, edit or delete")
        await stage.paints("This was not read; nothing to decide.")
        # what all the questions cost
        usd = sum(it.usd or 0 for it in ledger(root))
        await stage.paints(f"claude-sonnet-5-5 · cost {format_cost(usd)} · from 1 session")
        cost = f"{4020 * len(server.asked):,} tokens sent"
        assert f"claude-sonnet-5-5 answered: {cost}" in stage.toasts
        assert len(ledger(root)) == len(server.asked)
        await stage.press("a")
        assert "This was not read" in stage.toasts
        assert any("create port" in it for it in rows(review))


async def test_without_an_api_key_no_paid_engine_is_offered(root: Path, pinned: Path) -> None:
    config = pinned / ".config/ricordo"
    config.mkdir(parents=True)
    (config / "prices.toml").write_text("models = 7\n")
    async with choosing(root, (80, 24)) as (stage, screen):
        await stage.paints("✗ No API key found. Set ANTHROPIC_API_KEY")
        # with any warning, however long its path, there is room for the brief
        assert screen._text.size.height >= 8
        text = text_of(screen._text)
        assert "The file is ignored." in " ".join(text.split())
        assert text.index("== index") < text.index("## People")
        assert "start" not in keys_of(screen)
        await stage.press("enter")
        assert "No API key found." in stage.toasts
        await stage.press("left")
        await wait_for_preview(stage)
        assert "Enter start" in " ".join(keys_of(screen).split())


HOSTILE = "\x1b]52;c;QQ==\x07\x1b[2J[/x][@click=app.quit]q[/] \u202e\u200b"


async def test_a_reply_is_shown_as_it_arrives_and_cancelled_by_esc_or_closing(
    root: Path, server: MessagesServer
) -> None:
    before = files(root)
    let_wait(notebook_of(root), CREATE)
    events = [replies.start(), *replies.tool_block(f"{HOSTILE}{'harbour ' * 100}the end")[:-1]]
    server.scripts[:] = [replies.broken_off(events, Wire.stall)]
    async with choosing(root) as (stage, screen):
        await stage.press("enter")
        await stage.paints("model writing …")
        await stage.paints("tokens · nothing is written")
        await stage.paints("harbour the end")
        assert "[@click=app.quit]" in "".join(line.text for line in screen._text._lines)
        assert not set("\x1b\x07\u202e\u200b") & set(stage.painted())
        await stage.press("down", "G", "2", "M")
        await stage.pilot.click("#ways", offset=(5, 2))
        assert stage.app.screen is screen
        assert screen._list.at == 0
        assert "Esc cancels" in stage.toasts
        await stage.press("escape")
        assert "Cancelled. Nothing was changed. The cost so far" in stage.toasts
        await wait_for_preview(stage)
        await stage.wait_for(lambda: len(ledger(root)) == 1, "its cost")
        # once more, and out of Ricordo while the server is silent
        await stage.press("enter")
        await stage.paints("model writing …")
        await stage.press("ctrl+q")
        await stage.wait_for(lambda: stage.app._exit, "the end")
    await wait_for(lambda: len(ledger(root)) == 2, "the thread ended while the server is silent")
    assert files(root) == before
    assert waiting(root) == ["create"]


async def test_a_server_that_does_not_count_tokens_delays_nothing(
    root: Path, server: MessagesServer
) -> None:
    def silent(wire: Wire, asked: Asked) -> None:
        wire.stall()

    server.scripts[:] = [silent, replies.error(404, "not_found_error"), replies.counted(999_999)]
    async with choosing(root) as (stage, _):
        await stage.press("number_sign")
        await stage.paints("○ the server counts …")
        await stage.wait_for(lambda: server.asked, "the silent server")
        await stage.press("escape")
        await wait_for_preview(stage)
        assert "Cancelled. Nothing was changed." in stage.toasts
        assert "ledger" not in stage.toasts
        await stage.press("number_sign")
        await stage.paints("✗ Model or address not found on the server (404).")
        await wait_for_preview(stage)
        await stage.press("number_sign")
        # the money is that of what was counted, and has room on the smallest screen
        await stage.paints("999,999 tokens counted, at most 12,000 written: at most $2.")
        assert not ledger(root)


# What may leave


async def test_a_value_is_allowed_and_redacted_again_without_being_shown(
    root: Path, server: MessagesServer
) -> None:
    async with choosing(root) as (stage, screen):
        await stage.press("r")
        await stage.shows(RedactionScreen)
        await stage.paints("⊘ github-token  in your message of 12 Nov")
        await stage.paints("The token is [REDACTED:github-token:1].")
        await stage.wait_for(lambda: stage.app.screen.is_read, "what may leave")  # type: ignore[attr-defined]
        await stage.calm()
        await stage.press("d", "a")
        assert "This value is redacted already." in stage.toasts
        await stage.paints("✓ github-token")
        await stage.press("escape")
        await wait_for_preview(stage)
        await stage.paints("none found")
        assert screen.preview is not None
        assert screen.preview.egress is not None
        assert TOKEN in screen.preview.egress.text
        await stage.press("r")
        await stage.shows(RedactionScreen)
        await stage.paints("✓ github-token")
        assert TOKEN not in stage.painted()
        await stage.calm()
        await stage.press("d")
        await stage.paints("⊘ github-token")
        await stage.press("escape")
        await wait_for_preview(stage)
        await stage.paints("1 redacted: github-token 1")


# Checking notes


async def test_notes_are_checked_and_the_corrections_reviewed(
    root: Path, server: MessagesServer
) -> None:
    quotes = [{"source": "n4", "quote": "Genova"}]
    correction = {"note": "n3", "old": "Sines", "new": "Lagos", "reason": "it moved"}
    answer = {"lookups": [], "corrections": [{**correction, "evidence": quotes}]}
    server.scripts[:] = [replies.good(answer, name="report")]
    before = files(root)
    async with choosing(root) as (stage, _):
        await stage.press("left")
        await wait_for_preview(stage)
        await stage.press("4")
        await stage.paints("The rules cannot check notes.")
        await stage.press("right")
        await wait_for_preview(stage)
        await stage.paints(f"{len(before) - 1} notes to check")
        await stage.paints("The memory belongs to no project")
        await stage.press("number_sign")
        assert not server.asked
        await stage.press("enter")
        review = await reviewing(stage)
        assert list(states(review)) == ["replace project_tides"]
        await stage.paints("Genova")
        assert files(root) == before
