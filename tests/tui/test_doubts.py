"""Uncertain pairs in the conflict workbench: a model judges on request, and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ricordo.services.conflicts.opinions import OPINIONS_FILE
from ricordo.tui.conflicts.screen import ConflictsScreen
from ricordo.tui.dialogs.ask_screen import QuestionScreen
from ricordo.tui.dialogs.form import ConfirmScreen
from ricordo.tui.dialogs.text_page import HelpScreen
from tests.support import messages_replies as replies
from tests.support.asking import write_program
from tests.support.doubts import LONG, SUMMARY, doubtful_files, judging, verdict
from tests.support.messages_server import (
    MessagesServer,
    Script,
    messages_server,
    without_credentials,
)
from tests.tui.stage import Stage, build, staged, surroundings_at
from tests.tui.test_conflicts import bench, count, open_workbench, paths, resolve

Serve = Callable[..., MessagesServer]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path, doubtful_files(*SUMMARY))


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Serve]:
    """Start a server that answers by a script; the settings name it."""
    without_credentials(monkeypatch, tmp_path)
    running = []

    def start(*scripts: Script) -> MessagesServer:
        running.append(messages_server(*scripts))
        server = running[-1].__enter__()
        config = Path(surroundings_at(tmp_path).config)
        config.mkdir(parents=True, exist_ok=True)
        (config / "settings.toml").write_text(
            f'[engine]\nuse = "anthropic"\nmodel = "claude-test"\nserver = "{server.url}"\n'
        )
        return server

    yield start
    for it in running:
        it.__exit__(None, None, None)


def files_of(root: Path) -> dict[str, bytes]:
    return {it.name: it.read_bytes() for it in root.iterdir()}


async def open_question(stage: Stage) -> QuestionScreen:
    await open_workbench(stage)
    await stage.paints("1 uncertain")
    await stage.press("c")
    await stage.shows(QuestionScreen)
    screen = stage.app.screen
    assert isinstance(screen, QuestionScreen)
    await stage.wait_for(lambda: screen.preview is not None, "what is known before")
    await stage.settle()
    return screen


async def test_an_uncertain_pair_is_judged_on_request_and_resolved_by_the_user(
    root: Path, serve: Serve
) -> None:
    told = verdict("p1", keep="right", reason="the [b]later[/b] one")
    server = serve(judging(told, verdict("p9"), verdict("p8")))
    before = files_of(root)
    async with staged(root) as stage:
        await open_question(stage)
        shown = stage.painted()
        assert f"claim| {SUMMARY[0]}" in shown
        assert "tokens sent, at most" in shown
        assert "price unknown" in shown
        assert not server.asked
        await stage.press("enter")
        await stage.shows(ConflictsScreen)
        await stage.wait_for(lambda: count(stage) == 1, "the pair in the workbench")
        await stage.paints("Uncertain: 1 of 1")
        await stage.paints("opinion of claude-test: a conflict, keep right · the [b]later[/b] one")
        assert "1 judged. a conflict: 1" in stage.toasts
        assert "Refused: verdict 2: No pair has the id “p9”, and 1 more." in stage.toasts
        assert files_of(root) == before
        assert "x conflicts 1" not in " ".join(stage.bottom.split())
        await resolve(stage, "2")
        assert b"at the end" in (root / "end-of-day.md").read_bytes()
        assert len(server.asked) == 1


async def test_a_conflict_by_excerpts_stays_uncertain_until_more_is_judged(
    tmp_path: Path, serve: Serve
) -> None:
    server = serve(judging(verdict("p1", keep="right")))
    async with staged(build(tmp_path, doubtful_files(*LONG))) as stage:
        await open_question(stage)
        await stage.press("enter")
        await stage.paints("1 pair called a conflict by excerpts: this is sent")
        told = "Not listed yet: 1, until more of both notes is judged."
        await stage.wait_for(lambda: told in stage.toasts, "what is not listed yet")
        assert len(server.asked) == 1
        await stage.press("escape")
        await stage.shows(ConflictsScreen)
        await stage.paints("1 uncertain")
        assert count(stage) == 0
        await stage.press("c")
        await stage.shows(QuestionScreen)
        await stage.paints("1 pair called a conflict by excerpts: this is sent")
        await stage.press("enter")
        await stage.wait_for(lambda: count(stage) == 1, "the pair in the workbench")
        assert len(server.asked) == 2


async def test_opinions_are_stored_and_not_paid_for_again(root: Path, serve: Serve) -> None:
    server = serve(judging(verdict("p1", "both-hold", "neither", "two reports")))
    async with staged(root) as stage:
        await open_question(stage)
        await stage.press("enter")
        await stage.shows(ConflictsScreen)
        await stage.paints("No two notes contradict or repeat each other")
        assert "both may be true: 1" in stage.toasts
    async with staged(root) as stage:
        await open_workbench(stage)
        await stage.paints("1 uncertain pair was judged: c shows the opinions.")
        await stage.press("c")
        await stage.shows(QuestionScreen)
        await stage.paints("opinion of claude-test: both may be true · two reports")
        await stage.press("enter", "escape")
        await stage.shows(ConflictsScreen)
        assert len(server.asked) == 1


async def test_without_an_uncertain_pair_nothing_can_be_sent(tmp_path: Path) -> None:
    async with staged(build(tmp_path)) as stage:
        await open_workbench(stage)
        await stage.paints("No pair of notes is uncertain. c lets a model look for more.")
        await stage.press("c")
        await stage.shows(QuestionScreen)
        await stage.paints("There is no pair without an opinion to judge.")
        await stage.press("enter", "escape")
        await stage.shows(ConflictsScreen)


async def test_a_dismissed_pair_stays_hidden_until_undo(root: Path, serve: Serve) -> None:
    serve(judging(verdict()))
    async with staged(root) as stage:
        await open_question(stage)
        await stage.press("enter")
        await stage.wait_for(lambda: count(stage) == 1, "the pair in the workbench")
        await stage.shows(ConflictsScreen)
        await resolve(stage, "0", "no files change")
        await stage.wait_for(lambda: stage.main._changing.can_undo, "something to undo")
        await stage.press("u")
        await stage.wait_for(lambda: count(stage) == 1, "the pair again")
        assert paths(bench(stage)) == ("end-of-day.md", "morning.md")


async def test_cancelling_and_failures_change_nothing(root: Path, serve: Serve) -> None:
    refused = replies.error(403, "permission_error", "not [/this] one")
    server = serve(replies.endless(), refused)
    before = files_of(root)
    async with staged(root) as stage:
        screen = await open_question(stage)
        await stage.press("enter")
        await stage.wait_for(lambda: server.asked, "the question")
        await stage.paints("model reading")
        await stage.press("escape")
        assert "Cancelled. Nothing was changed." in stage.toasts
        await stage.wait_for(lambda: screen.preview is not None, "what is known again")
        await stage.press("enter")
        await stage.paints("not [/this] one")
        await stage.press("escape")
        await stage.shows(ConflictsScreen)
        assert count(stage) == 0
        assert files_of(root) == before
        assert not Path(stage.main._notebook.environment.state, OPINIONS_FILE).exists()


async def test_the_rules_cannot_judge_uncertain_pairs(root: Path) -> None:
    async with staged(root) as stage:
        await open_question(stage)
        await stage.paints("The rules engine cannot judge these: choose a model or a program.")
        await stage.paints("To choose one: Esc Esc c, then → for the next engine.")
        for path, said in zip(("end-of-day.md", "morning.md"), SUMMARY, strict=True):
            await stage.paints(f"{path}:")
            await stage.paints(said)
        await stage.press("enter")
        assert isinstance(stage.app.screen, QuestionScreen)


async def test_a_new_program_is_allowed_before_it_judges(root: Path, tmp_path: Path) -> None:
    answer = json.dumps({"verdicts": [verdict(keep="right")]})
    program = write_program(tmp_path / "judge", f"cat <<'END'\n{answer}\nEND")
    config = Path(surroundings_at(tmp_path).config)
    config.mkdir(parents=True, exist_ok=True)
    (config / "settings.toml").write_text(f'[engine]\nuse = "command"\ncommand = ["{program}"]\n')
    async with staged(root) as stage:
        await open_question(stage)
        await stage.paints("New program: Enter shows its command line and asks before it runs.")
        await stage.press("enter")
        await stage.shows(ConfirmScreen)
        await stage.press("escape")
        await stage.shows(QuestionScreen)
        assert not (tmp_path / "given").exists()
        await stage.press("enter")
        await stage.shows(ConfirmScreen)
        await stage.press(*"run")
        await stage.confirm()
        await stage.shows(ConflictsScreen)
        await stage.wait_for(lambda: count(stage) == 1, "the pair in the workbench")
        await stage.paints("opinion of judge: a conflict, keep right")


async def test_the_keys_of_a_question_are_shown_and_q_closes_it(root: Path) -> None:
    async with staged(root) as stage:
        await open_question(stage)
        await stage.press("question_mark")
        await stage.shows(HelpScreen)
        await stage.press("escape")
        await stage.shows(QuestionScreen)
        await stage.press("q")
        await stage.shows(ConflictsScreen)
