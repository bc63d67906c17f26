"""`ricordo conflicts --doubts` and `--judge`, called as a user calls it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import messages_replies as replies
from tests.support.builders import write_memory
from tests.support.doubts import LONG, SUMMARY, doubtful_files, judging, verdict
from tests.support.messages_server import MessagesServer, messages_server, without_credentials
from tests.unit.cli.conftest import Ricordo, contents, settle

BY_MODEL = ("--judge", "--engine", "anthropic")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    root = write_memory(tmp_path / "memory", doubtful_files(*SUMMARY))
    settle(root)
    return root


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    """Return a server that the environment names, with a key for it."""
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    with messages_server(judging(verdict("p1", keep="right"), verdict("p9"))) as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


def test_uncertain_pairs_are_listed_on_request_and_never_count(
    memory: Path, ricordo: Ricordo
) -> None:
    assert json.loads(ricordo("conflicts", "--json"))["conflicts"] == []
    output = json.loads(ricordo("conflicts", "--doubts", "--json"))
    (doubt,) = output["doubts"]
    assert output["conflicts"] == []
    assert (doubt["left"]["claim"], doubt["opinion"]) == (SUMMARY[0], None)
    assert "no opinion yet" in ricordo("conflicts", "--doubts")


def test_a_model_judges_once_and_its_opinion_is_listed_from_then_on(
    memory: Path, ricordo: Ricordo, server: MessagesServer
) -> None:
    before = contents(memory)
    output = ricordo("conflicts", *BY_MODEL)
    assert "judging 1 pair without an opinion" in output
    assert f"asking claude-sonnet-5-5 at {server.url}: about" in output
    assert "claude-sonnet-5-5 answered: 4,020 tokens sent, 77 written" in output
    assert "rejected: verdict 2: No pair has the id “p9”." in output
    assert "claude-sonnet-5-5: conflict, keep right: it is later" in output
    document, said = ricordo("conflicts", *BY_MODEL, "--json").splitlines()
    assert "There is no pair without an opinion to judge." in said
    (doubt,) = json.loads(document)["doubts"]
    opinion = {"verdict": "conflict", "keep": "right", "reason": "it is later"}
    assert doubt["opinion"] == {**opinion, "model": "claude-sonnet-5-5", "confirmed": True}
    assert contents(memory) == before
    assert len(server.asked) == 1
    ricordo("conflicts", "--resolve", doubt["id"], "--keep", "right")
    assert b"at the end" in contents(memory)["end-of-day.md"]


def test_a_conflict_by_excerpts_is_judged_once_more(
    tmp_path: Path, ricordo: Ricordo, server: MessagesServer
) -> None:
    settle(write_memory(tmp_path / "memory", doubtful_files(*LONG)))
    server.scripts.append(judging(verdict("p1", "both-hold", "neither", "until next month")))
    output = ricordo("conflicts", *BY_MODEL)
    assert "judging 1 pair called a conflict by excerpts" in output
    assert output.count(f"asking claude-sonnet-5-5 at {server.url}: about") == 2
    assert "claude-sonnet-5-5: both-hold, keep neither: until next month" in output
    assert len(server.asked) == 2


def test_an_opinion_on_a_conflict_is_printed_with_it(
    memory: Path, ricordo: Ricordo, server: MessagesServer
) -> None:
    for name, port in (("end-of-day", 8000), ("morning", 8100)):
        with (memory / f"{name}.md").open("a") as file:
            file.write(f"\nThe web view listens on port {port}.\n")
    settle(memory)
    (conflict,) = json.loads(ricordo("conflicts", "--json", code=1))["conflicts"]
    assert "opinion" not in conflict
    output = ricordo("conflicts", *BY_MODEL, code=1)
    assert "  claude-sonnet-5-5: conflict, keep right: it is later" in output
    (conflict,) = json.loads(ricordo("conflicts", "--json", code=1))["conflicts"]
    assert conflict["opinion"]["verdict"] == "conflict"


def test_incompatible_options_and_failures_are_reported(
    memory: Path, ricordo: Ricordo, server: MessagesServer
) -> None:
    ricordo("conflicts", "--judge", code=2)
    ricordo("conflicts", "--judge", "--resolve", "x", "--keep", "left", code=2)
    server.scripts[:] = [replies.error(401, "authentication_error")]
    assert "(401)" in ricordo("conflicts", *BY_MODEL, code=5)
