"""What a model does not take as a whole is asked in parts; what it does not take is left out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from ricordo.curation import parts as in_parts
from ricordo.curation.engine import CurationProgress, EngineUsage
from ricordo.curation.engines.llm import ModelClient
from ricordo.curation.parts import MAX_FRUITLESS, MAX_QUESTIONS
from ricordo.llm.budget import Caps
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.services.curation.decision import read_pending
from ricordo.services.curation.preparation import CurationScope
from ricordo.services.engines.engines import make_gate
from ricordo.services.ledger.benefit import compute_benefit
from ricordo.services.ledger.describe import format_benefit
from tests.support import messages_replies as replies
from tests.support.asking import EMPTY, FILES, TOKEN, curated, ledger, sent
from tests.support.curating import SAID, Desk, user_lines
from tests.support.in_parts import (
    BAD,
    FILLER,
    PORTS,
    ask,
    counted_right,
    limited,
    list_skipped_messages,
    memory,
    moving,
    paths,
    refused,
    refusing,
    shown,
    streamed,
    talk,
    turns,
)
from tests.support.messages_server import Asked, Wire, messages_server
from tests.support.messages_server import without_credentials as without


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")


@pytest.fixture
def desk_of(tmp_path: Path) -> Callable[..., Desk]:
    """Return what makes a memory of eight notes, and a talk about all of them."""

    def make(*more: str, **bodies: str) -> Desk:
        desk = Desk(tmp_path, memory(**bodies))
        desk.transcript.write_text(user_lines(*map(talk, PORTS), *more), "utf-8")
        return desk

    return make


# What is refused


def test_a_note_that_is_refused_is_skipped_by_name_and_all_the_others_are_read(
    desk_of: Callable[..., Desk],
) -> None:
    desk = desk_of(f"The token is {TOKEN}.", lagos=BAD)
    before = desk.files
    with messages_server(refusing(BAD)) as server:
        curation = curated(desk, server)
    assert paths(curation) == {*PORTS} - {"lagos"}
    assert all(quoted.found for it in curation.proposals for quoted in it.evidence)
    assert list_skipped_messages(curation) == [
        "skipped: lagos.md, refused by the model; you can still open, edit or delete it"
    ]
    # eight pairs are halved three times, then the note is parted from its turn
    assert len(server.asked) == 1 + 2 * 4
    for asked in server.asked[1:3]:
        listed = re.findall(r"^n\d+ \| (\w+): Harbour", sent(asked)[1], re.MULTILINE)
        # what stands in the other half is named, and a turn stands with the note that it is about
        assert {*listed} == {*PORTS} - {*shown(asked)}
        assert {*turns(asked)} == {*shown(asked)}
    # the turn that it stood with was read by itself
    assert any("lagos" in turns(it) and not shown(it) for it in server.asked)
    assert desk.files == before
    assert TOKEN.encode() not in server.received
    # every question has a line: five were refused, four answered
    runs = ledger(desk)
    assert [it.output_tokens == 9 for it in runs].count(True) == 5
    assert len(runs) == 9
    assert [it.proposed for it in runs if it.proposed] == [7]
    # and the person is told of all of them together
    assert curation.run.input_tokens == sum(it.input_tokens for it in runs)
    assert curation.run.usd == pytest.approx(sum(it.usd or 0 for it in runs))
    # so is whoever decides on it later
    assert [it.whole_usd for it in read_pending(desk.notebook).runs] == [curation.run.usd]
    assert [bool(it.activity_tokens) for it in runs].count(True) == 1
    # where all is told, what it cost besides is one line
    worth = compute_benefit(desk.notebook, desk.notebook.read())
    cost = next(it for it in format_benefit(worth) if it.title == "Cost")
    assert [line.rpartition("  ")[2] for line in cost.lines[1:]] == [
        "0 accepted, 0 refused of 7",
        "8 questions without proposals",
    ]
    counted_right(desk)


def test_a_turn_that_is_refused_is_skipped_and_named(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(f"Is this {BAD}?")
    with messages_server(refusing(BAD)) as server:
        curation = curated(desk, server)
    assert paths(curation) == {*PORTS}
    assert list_skipped_messages(curation) == [
        f"skipped: what you said on 12 Nov, “Is this {BAD}?”, refused by the model"
    ]
    counted_right(desk)


def test_of_two_that_are_refused_both_are_found(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(faro=BAD, sines=BAD)
    with messages_server(refusing(BAD)) as server:
        curation = curated(desk, server)
    assert paths(curation) == {*PORTS} - {"faro", "sines"}
    skipped = [it for it in curation.skipped if it.source]
    assert {it.source for it in skipped} == {"faro.md", "sines.md"}
    assert len(server.asked) <= 1 + MAX_QUESTIONS
    counted_right(desk)


def test_the_context_is_left_out_if_it_is_refused(
    desk_of: Callable[..., Desk],
) -> None:
    desk = desk_of(index=f"- [A {BAD} thing](https://example.org)\n")
    with messages_server(refusing(BAD)) as server:
        curation = curated(desk, server)
    assert paths(curation) == {*PORTS}
    assert [it.name for it in curation.skipped] == ["the index and the names of the other notes"]
    assert len(server.asked) == 5
    counted_right(desk)


def test_one_note_is_told_by_its_name_where_nothing_else_was_asked(
    desk_of: Callable[..., Desk],
) -> None:
    desk = desk_of(lagos=BAD)
    with messages_server(refusing(BAD)) as server, pytest.raises(ModelFailed) as caught:
        ask(desk, server, scope=CurationScope(note="lagos.md"))
    assert caught.value.cause is FailureCause.REFUSED
    assert "Each part by itself was rejected too: lagos.md" in caught.value.message
    assert "you can still open, edit and delete notes" in caught.value.message


def test_a_model_that_refuses_everything_is_not_asked_to_the_end(
    desk_of: Callable[..., Desk],
) -> None:
    desk = desk_of()
    with messages_server(refused) as server, pytest.raises(ModelFailed) as caught:
        curated(desk, server)
    assert caught.value.cause is FailureCause.REFUSED
    assert "No part was answered either: the model was asked 9 times" in caught.value.message
    assert len(server.asked) == len(ledger(desk)) == 1 + MAX_FRUITLESS
    assert not desk.waiting
    counted_right(desk)


# What is too large


@pytest.mark.parametrize(("most", "status"), [(14_000, 413), (12_000, 400), (10_500, 413)])
def test_what_is_too_large_is_sent_in_parts_and_all_of_it_is_read(
    most: int, status: int, desk_of: Callable[..., Desk]
) -> None:
    desk = desk_of(**dict.fromkeys(PORTS, FILLER))
    with messages_server(limited(most, status)) as server:
        curation = curated(desk, server)
    assert len(server.asked) > 1
    assert paths(curation) == {*PORTS}
    assert curation.skipped == ()
    # what is turned down costs nothing
    assert all(it.output_tokens for it in ledger(desk))
    counted_right(desk)


def test_a_note_that_is_too_large_by_itself_is_skipped(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(**{**dict.fromkeys(PORTS, FILLER), "lagos": FILLER * 8})
    with messages_server(limited(10_500)) as server:
        curation = curated(desk, server)
    assert paths(curation) == {*PORTS} - {"lagos"}
    assert list_skipped_messages(curation) == [
        "skipped: lagos.md, too large for the server; you can still open, edit or delete it"
    ]
    counted_right(desk)


def test_an_index_that_is_too_large_is_left_out(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(index="- [A thing](https://example.org) of which much is said\n" * 300)
    with messages_server(limited(12_000)) as server:
        curation = curated(desk, server)
    assert paths(curation) == {*PORTS}
    assert len(server.asked) == 2
    assert [it.name for it in curation.skipped] == ["the index and the names of the other notes"]


# What becomes of the answers


def test_what_two_parts_wish_alike_is_proposed_once_and_of_two_wishes_the_later_talk_counts(
    desk_of: Callable[..., Desk],
) -> None:
    link = {**EMPTY, "op": "link", "note": "n1", "other": "n2", "evidence": []}

    def wishing(wire: Wire, asked: Asked) -> None:
        hour = "six" if "t1" in turns(asked).values() else "ten"
        moved = {**EMPTY, "op": "replace", "note": "n8", "old": "at eight", "text": f"at {hour}"}
        edits = json.dumps({"edits": [moved, link]})
        streamed(asked, *replies.tool_block(edits), *replies.ending())(wire, asked)

    desk = desk_of()
    with messages_server(replies.error(413, "request_too_large"), wishing) as server:
        curation = curated(desk, server)
    assert [it.op for it in curation.proposals] == ["replace", "link"]
    assert "+The sines harbour opens at ten." in curation.proposals[0].diff
    assert [it.change for it in curation.rejected] == ["replace sines.md"]


# Where it ends


class Enough(Exception):
    """The person does not want it any more."""


@pytest.mark.parametrize("phase", ["part 3: model reading", "part 2: ask"])
def test_it_is_cancelled_in_a_part_and_between_two(
    phase: str, desk_of: Callable[..., Desk]
) -> None:
    def step(progress: CurationProgress) -> None:
        if progress.phase.startswith(phase):
            raise Enough

    desk = desk_of(lagos=BAD)
    slow = replies.endless()
    scripts = refused, refused, moving, slow
    with messages_server(*scripts) as server, pytest.raises(Enough):
        curated(desk, server, step)
    assert not desk.waiting
    # what was answered by then was paid for too
    assert len(ledger(desk)) == len(server.asked)
    assert not any(it.proposed for it in ledger(desk))
    if "reads" in phase:
        counted_right(desk)


def test_where_a_cap_is_reached_what_was_found_is_told_with_what_was_not_asked(
    desk_of: Callable[..., Desk],
) -> None:
    desk = desk_of(lagos=BAD)
    caps = Caps(run_in=9_000)
    with messages_server(refusing(BAD)) as server:
        curation = ask(desk, server, caps=caps)
    assert 1 < len(server.asked) < 9
    assert paths(curation)
    left = [it for it in curation.skipped if it.is_deferred]
    assert {it.source for it in left} >= {"lagos.md"}
    assert len({it.why for it in left}) == 1
    assert "in a run. Curate less at once" in left[0].why
    assert "Raise" in left[0].why or "raise" in left[0].why
    # no note is lost: it was read, or it is told that it was not
    unread = {it.source.removesuffix(".md") for it in left}
    assert paths(curation) | unread >= {*PORTS}
    assert sum(it.input_tokens for it in ledger(desk)) <= caps.run_in
    counted_right(desk)


def test_a_brief_for_which_no_cap_leaves_room_is_not_asked_in_parts(
    desk_of: Callable[..., Desk],
) -> None:
    desk = desk_of(lagos=BAD)
    with messages_server(refusing(BAD)) as server, pytest.raises(ModelFailed) as caught:
        ask(desk, server, caps=Caps(run_in=3_000))
    assert caught.value.cause is FailureCause.REFUSED
    assert "The model refused to answer this brief. No part was answered either: the brief has" in (
        caught.value.message
    )
    assert "engine.sent" in caught.value.message
    assert len(server.asked) == 1
    counted_right(desk)


def test_what_may_be_written_is_what_the_answers_before_have_left(
    desk_of: Callable[..., Desk],
) -> None:
    def wordy(wire: Wire, asked: Asked) -> None:
        tool = replies.tool_block(json.dumps({"edits": []}))
        streamed(asked, *tool, *replies.ending(output=900))(wire, asked)

    desk = desk_of(lagos=BAD)
    with messages_server(refusing(BAD, then=wordy)) as server:
        curation = ask(desk, server, caps=Caps(run_out=2_000))
    assert [it.json["max_tokens"] for it in server.asked] == [2000, 1991, 1982, 1082]
    assert any("output tokens already" in it.why for it in curation.skipped)
    assert sum(it.output_tokens for it in ledger(desk)) <= 2_000


@pytest.mark.parametrize("is_first", [True, False])
def test_a_failure_on_the_way_ends_it_and_loses_nothing_that_was_answered(
    is_first: bool, desk_of: Callable[..., Desk]
) -> None:
    desk = desk_of()
    wrong = replies.error(401, "authentication_error")
    scripts = (refused, wrong) if is_first else (refused, moving, wrong)
    with messages_server(*scripts) as server:
        if is_first:
            with pytest.raises(ModelFailed) as caught:
                curated(desk, server)
            assert caught.value.cause is FailureCause.WRONG_KEY
        else:
            curation = curated(desk, server)
            assert paths(curation) == {*PORTS[:4]}
            assert all(it.is_deferred and "key (401)" in it.why for it in curation.skipped)
    assert len(server.asked) == len(scripts)
    counted_right(desk)


def test_there_is_one_deadline_for_all_of_it(
    desk_of: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(in_parts, "time", SimpleNamespace(monotonic=lambda: clock.now))
    lasts: list[float] = []

    def step(progress: CurationProgress) -> None:
        if progress.phase.endswith(": asking"):
            clock.now += 140

    def again(asking: ModelClient, spent: EngineUsage, seconds: float) -> ModelClient:
        lasts.append(seconds)
        return plain(asking, spent, seconds)

    plain = ModelClient.for_part
    monkeypatch.setattr(ModelClient, "for_part", again)
    desk = desk_of(BAD)
    with messages_server(refusing(BAD)) as server:
        curation = curated(desk, server, step)
    assert lasts == [160, 20]
    assert len(server.asked) == 3
    assert {it.why for it in curation.skipped} == {
        "not asked about: No complete answer after 300 seconds. Curate less at "
        "once, or choose a faster model."
    }


# What is kept


def test_automatic_runs_count_the_whole_and_not_its_parts(tmp_path: Path) -> None:
    desk = Desk(tmp_path, FILES)
    gate = make_gate(desk.notebook.environment)
    for number in range(1, 5):
        with messages_server(refused) as server, pytest.raises(ModelFailed) as caught:
            ask(desk, server, is_automatic=True)
        assert caught.value.cause is FailureCause.REFUSED
        assert len(server.asked) > 1
        # the first refusal of the same brief does not count
        assert bool(gate.read_remaining().paused_for) is (number == 4)
    with messages_server(refused) as server, pytest.raises(ModelFailed) as caught:
        ask(desk, server, is_automatic=True)
    assert caught.value.cause is FailureCause.PAUSED
    assert server.asked == []


def test_an_automatic_run_that_is_answered_in_parts_is_no_failure(tmp_path: Path) -> None:
    desk = Desk(tmp_path, FILES)
    desk.transcript.write_text(user_lines(SAID, BAD), "utf-8")
    for _ in range(5):
        with messages_server(refusing(BAD)) as server:
            assert len(ask(desk, server, is_automatic=True).skipped) == 1
    assert not make_gate(desk.notebook.environment).read_remaining().paused_for
