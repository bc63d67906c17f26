"""A change that the checks rejected goes back to the model with its reason, once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ricordo.curation.proposal import RejectedChange
from ricordo.errors import WrongUsage
from ricordo.llm.ask import Server
from ricordo.llm.budget import Caps
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.services.curation.curation import (
    RetryRequest,
    preview_retry,
    propose_prepared,
    save_curation,
    send_back,
)
from ricordo.services.curation.preparation import prepare
from ricordo.services.engines.engines import make_gate, make_model_target
from tests.support import messages_replies as replies
from tests.support.asking import EMPTY, FILES, MOVED, PATIENT, TOKEN, ledger, proposing, sent
from tests.support.builders import note_text
from tests.support.curating import Desk
from tests.support.messages_server import MessagesServer, messages_server, without_credentials

TWICE = {**MOVED, "note": "n1", "old": "a", "text": "o"}
"""Its text stands in the note more than once."""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, {**FILES, "ports.md": note_text("ports", f"Faro, Lagos.\n{TOKEN}\n")})


def curated(
    desk: Desk, server: MessagesServer, caps: Caps | None = None
) -> tuple[RetryRequest, tuple[RejectedChange, ...]]:
    notebook = desk.notebook
    server_of = Server(server.url, PATIENT)
    outside = make_model_target(notebook.environment, "claude-sonnet-5-5", server_of, caps)
    prepared = prepare(notebook, notebook.read(), desk.scope)
    curation = propose_prepared(notebook, prepared, make=outside)
    save_curation(notebook, curation)
    return RetryRequest(prepared, outside), curation.rejected


def test_it_is_sent_with_its_reason_and_what_it_names_and_returns_corrected(desk: Desk) -> None:
    mended = {**TWICE, "old": "Faro, Lagos", "text": "Lagos, Faro"}
    with messages_server(proposing(MOVED, TWICE), proposing(mended)) as server:
        asked, (rejected,) = curated(desk, server)
        curation = send_back(desk.notebook, asked, rejected)
    assert not curation.rejected
    assert [it.path for it in curation.proposals] == ["tides.md", "ports.md"]
    # what comes back is of the run that it was sent back in, what waits is of the one before
    assert curation.run.proposed == 1
    assert [it.run == curation.run.id for it in curation.proposals] == [False, True]
    _, _, changing = sent(server.asked[1])
    lines = changing.split("\n")
    assert any(it.startswith("why| ") and "a" in it for it in lines)
    (edit,) = (json.loads(it.removeprefix("edit| ")) for it in lines if it.startswith("edit| "))
    assert edit == {name: value for name, value in TWICE.items() if name in edit}
    assert edit["text"] == "o"
    whole = "\n".join(sent(server.asked[1]))
    assert "note n1\n" in whole
    assert "name: ports" in whole
    assert "n2 | tides" not in whole
    assert "turn t1, said on" in whole
    assert TOKEN.encode() not in server.received


def test_it_costs_as_another_run_and_is_bounded_as_one(desk: Desk) -> None:
    with messages_server(proposing(TWICE), proposing()) as server:
        asked, (rejected,) = curated(desk, server)
        before = preview_retry(desk.notebook, asked, rejected)
        save_curation(desk.notebook, send_back(desk.notebook, asked, rejected))
    assert not before.disabled_reason
    assert 0 < before.egress.estimate.input_tokens < 2_500
    runs = ledger(desk)
    assert len(runs) == 2
    assert [it.prompt_version for it in runs] == ["curate-3", "curate-3"]
    assert [bool(it.activity_tokens) for it in runs] == [False, True]
    left = make_gate(desk.notebook.environment).read_remaining()
    assert left.day == Caps().day - 2 * 4097


def test_over_a_cap_it_is_not_sent(desk: Desk) -> None:
    caps = Caps(day=18_000)
    with messages_server(proposing(TWICE)) as server:
        asked, (rejected,) = curated(desk, server, caps)
        with pytest.raises(ModelFailed) as failed:
            send_back(desk.notebook, asked, rejected)
    assert failed.value.cause is FailureCause.OVER_BUDGET
    assert len(server.asked) == 1


SECOND: dict[str, tuple[list[dict[str, Any]], int, int]] = {
    "the same again": ([TWICE], 0, 1),
    "nothing": ([], 0, 0),
    "two where one was asked for": ([MOVED, {**MOVED, "note": "n1"}], 1, 1),
    "an unknown id": ([{**MOVED, "note": "n99"}], 0, 1),
    "a placeholder that is a placeholder that was never sent": (
        [{**EMPTY, "op": "rewrite", "note": "n2", "text": "[REDACTED:github-token:9]"}],
        0,
        1,
    ),
}


@pytest.mark.parametrize("name", SECOND)
def test_the_answer_is_checked_as_any_other_and_never_goes_back_again(
    name: str, desk: Desk
) -> None:
    edits, proposed, refused = SECOND[name]
    before = desk.files
    with messages_server(proposing(TWICE), proposing(*edits)) as server:
        asked, (rejected,) = curated(desk, server)
        curation = send_back(desk.notebook, asked, rejected)
        assert len(curation.proposals) == proposed
        assert len(curation.rejected) == refused
        for it in curation.rejected:
            with pytest.raises(WrongUsage, match="once"):
                send_back(desk.notebook, asked, it)
    assert len(server.asked) == 2
    assert desk.files == before


def test_what_cannot_be_read_as_an_edit_is_not_sent_back(desk: Desk) -> None:
    curation = desk.propose(["nonsense", {"op": 3}, {"op": "erase"}])
    assert [bool(it.original) for it in curation.rejected] == [False, False, True]


def test_a_secret_that_an_answer_makes_up_does_not_go_out(desk: Desk) -> None:
    leaking = {**TWICE, "text": f"key {TOKEN[::-1]} {TOKEN}"}
    with messages_server(proposing(leaking), proposing()) as server:
        asked, (rejected,) = curated(desk, server)
        send_back(desk.notebook, asked, rejected)
    assert TOKEN.encode() not in server.received


def test_a_failure_changes_no_pending_proposal(desk: Desk) -> None:
    with messages_server(proposing(MOVED, TWICE), replies.error(401, "authentication_error")) as it:
        asked, (rejected,) = curated(desk, it)
        with pytest.raises(ModelFailed):
            send_back(desk.notebook, asked, rejected)
    assert [it.path for it in desk.waiting] == ["tides.md"]
