"""A rejected change is sent back to the model from the review, once, after its cost is shown."""

from __future__ import annotations

from pathlib import Path

from ricordo.curation.proposal import RejectedChange
from ricordo.services.curation.pending import load_curation_state
from ricordo.tui.curation.scope_screen import ScopeScreen
from ricordo.tui.curation.screen import CurationScreen
from ricordo.tui.dialogs.ask_screen import QuestionScreen
from ricordo.tui.main.screen import MainScreen
from tests.support.asking import TOKEN, proposing
from tests.support.messages_server import MessagesServer
from tests.tui.stage import Stage
from tests.tui.test_asking import MOVED, choosing, ledger, root, server, wait_for_preview
from tests.tui.test_curation import files, reviewing, rows, states
from tests.tui.test_inbox import notebook_of

__all__ = ["root", "server"]
LOST = {**MOVED, "old": "Porto [/]", "text": "Lagos"}
"""What it would replace stands nowhere."""


async def on_rejected(stage: Stage, screen: CurationScreen) -> None:
    """Put the cursor on the last row, once it is that of a rejected change."""
    await stage.wait_for(lambda: any("replace" in it for it in rows(screen)), "what was rejected")
    await stage.press("G")
    await stage.settle()


async def send_back_request(stage: Stage) -> None:
    """Press the key that sends back what is under the cursor, and wait for the question."""
    await stage.calm()
    await stage.press("b")
    await stage.shows(QuestionScreen)
    await stage.paints("Enter ask claude-sonnet-5-5")


async def test_a_rejected_change_is_sent_back_once_and_comes_back_fixed(
    root: Path, server: MessagesServer
) -> None:
    server.scripts[:] = [proposing(LOST, {**LOST, "old": "Braga"}), proposing(MOVED)]
    before = files(root)
    async with choosing(root) as (stage, _):
        await stage.press("enter")
        screen = await reviewing(stage)
        await on_rejected(stage, screen)
        await stage.calm()
        await stage.paints("b send back")
        await stage.press("b")
        await stage.shows(QuestionScreen)
        await stage.paints(f"claude-sonnet-5-5 · at {server.url}")
        await stage.paints("tokens sent, at most 12,000 written: at most $0.")
        await stage.paints('"old": "Braga"')
        assert len(server.asked) == 1
        await stage.press("enter")
        await stage.shows(CurationScreen)
        await stage.wait_for(lambda: "replace project_tides" in states(screen), "the fixed one")
        # the other one can still go back, this one is gone
        assert len([it for it in screen._things if not isinstance(it, str)]) == 2
        assert "claude-sonnet-5-5 answered" in stage.toasts
        assert files(root) == before
    assert len(server.asked) == 2
    assert len(ledger(root)) == 2
    assert TOKEN.encode() not in server.received


async def test_a_change_rejected_twice_is_not_sent_back_again(
    root: Path, server: MessagesServer
) -> None:
    server.scripts[:] = [proposing(LOST)]
    async with choosing(root) as (stage, _):
        await stage.press("enter")
        screen = await reviewing(stage)
        await on_rejected(stage, screen)
        await send_back_request(stage)
        await stage.press("enter")
        await stage.shows(CurationScreen)
        await stage.wait_for(lambda: len(server.asked) == 2, "the second question")
        await stage.wait_for(
            lambda: (
                [it.original for it in screen._things if isinstance(it, RejectedChange)] == [""]
            ),
            "the second answer on the screen",
        )
        await stage.calm()
        await on_rejected(stage, screen)
        await stage.press("b")
        assert "rejected change of a model or program can be sent back, once." in stage.toasts
        assert isinstance(stage.app.screen, CurationScreen)
    assert len(server.asked) == 2


async def test_a_rejected_change_can_be_sent_back_after_a_cancelled_curation(
    root: Path, server: MessagesServer
) -> None:
    server.scripts[:] = [proposing(LOST)]
    async with choosing(root) as (stage, _):
        await stage.press("enter")
        screen = await reviewing(stage)
        await on_rejected(stage, screen)
        await stage.calm()
        await stage.press("c")
        await wait_for_preview(stage)
        await stage.press("escape")
        await stage.shows(CurationScreen)
        await send_back_request(stage)
    assert len(server.asked) == 1


async def test_messages_are_curated_again_while_a_rejected_change_can_be_sent_back(
    root: Path, server: MessagesServer
) -> None:
    server.scripts[:] = [proposing(LOST, {**LOST, "old": "Braga"}), proposing()]
    state = notebook_of(root).environment.state
    async with choosing(root) as (stage, _):
        await stage.press("enter")
        screen = await reviewing(stage)
        await on_rejected(stage, screen)
        await send_back_request(stage)
        await stage.press("enter")
        await stage.shows(CurationScreen)
        await stage.wait_for(lambda: len(screen._things) == 2, "the row and its line that are left")
        assert not load_curation_state(state, str(root)).cursors


async def test_rejected_changes_are_listed_when_the_review_opens_again(
    root: Path, server: MessagesServer
) -> None:
    server.scripts[:] = [proposing(LOST), proposing()]
    async with choosing(root) as (stage, _):
        await stage.press("enter")
        await on_rejected(stage, await reviewing(stage))
        await stage.press("escape")
        await stage.shows(MainScreen)
        await stage.press("c")
        screen = await reviewing(stage)
        await on_rejected(stage, screen)
        await stage.calm()
        row = screen.item
        await send_back_request(stage)
        await stage.press("enter")
        await stage.wait_for(lambda: not screen._decisions.rejected, "it sent")
        # even a row that is still drawn does not open the question again
        assert not screen._decisions.can_send_back(row)
        await stage.wait_for(lambda: not screen._things, "nothing left")
        await stage.press("escape")
        await stage.shows(MainScreen)
        await stage.press("c")
        await stage.shows(ScopeScreen)
