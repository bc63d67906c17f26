"""What is remembered of a transcript, and that it survives being stored."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.registry import find_agent
from ricordo.agents.transcripts.checkpoint import Checkpoint, dump_checkpoint, load_checkpoint
from ricordo.agents.transcripts.session import Message, MessagePlace, Noise, Speaker

TIMES = st.lists(st.sampled_from(["", *(f"2026-05-0{day}T08:00:00+00:00" for day in range(1, 10))]))
MESSAGES = st.builds(
    Message,
    who=st.sampled_from(Speaker),
    text=st.text(max_size=5),
    at=st.just(""),
    key=st.just(""),
    place=st.builds(MessagePlace, st.integers(0, 9_999), st.integers(1, 999)),
    noise=st.none() | st.sampled_from(Noise),
    is_aside=st.booleans(),
)


def say(text: str, number: int = 1, who: Speaker = Speaker.USER, at: str = "") -> Message:
    return Message(who, text, at, "", MessagePlace(10 * number, number))


def title_of(checkpoint: Checkpoint) -> str:
    return checkpoint.make_session(find_agent("claude"), "/a.jsonl").title


def test_the_best_title_is_kept_and_of_equally_good_ones_the_last() -> None:
    checkpoint = Checkpoint()
    checkpoint.record(say("Fix the tides."))
    assert title_of(checkpoint) == "Fix the tides."
    titles = []
    for title, rank in (("a", 1), ("b", 1), ("c", 3), ("d", 2), (" \n", 4), ("e", 3)):
        checkpoint.set_title(title, rank)
        titles.append(title_of(checkpoint))
    assert titles == ["a", "b", "c", "c", "c", "e"]


@pytest.mark.parametrize("by_agent", [True, False])
def test_a_title_is_one_line_of_at_most_200_characters_without_credentials(by_agent: bool) -> None:
    text = "  one\n\n two\tAKIAQ3T7ZK4M2PWX9JLD three  " + "x" * 900
    checkpoint = Checkpoint()
    if by_agent:
        checkpoint.set_title(text, 1)
    else:
        checkpoint.record(say(text))
    title = title_of(checkpoint)
    assert title.startswith("one two ")
    assert "AKIAQ3T7ZK4M2PWX9JLD" not in title
    assert len(title) == 200


@given(TIMES)
def test_a_session_lasts_from_its_earliest_to_its_latest_time(times: list[str]) -> None:
    checkpoint = Checkpoint()
    for number, at in enumerate(times):
        checkpoint.record(say("Go on.", number, Speaker.TOOL, at))
    known = [at for at in times if at]
    assert (checkpoint.started, checkpoint.ended) == (
        min(known, default=""),
        max(known, default=""),
    )


@given(st.lists(MESSAGES, max_size=30))
def test_the_last_eight_messages_of_the_user_can_be_found_again(messages: list[Message]) -> None:
    checkpoint = Checkpoint()
    for message in messages:
        checkpoint.record(message)
    of_user = [each for each in messages if each.who is Speaker.USER and each.is_spoken]
    places = [message.place for message in of_user]
    assert checkpoint.said == places[-8:]
    assert checkpoint.window == (places[-8:][0] if places else (0, 1))
    texts = (" ".join(message.text.split()) for message in of_user)
    assert checkpoint.first_words == next(filter(None, texts), "")


def test_the_ninth_message_of_the_user_displaces_the_first() -> None:
    checkpoint = Checkpoint()
    for number in range(1, 10):
        checkpoint.record(say(f"Message {number}.", number))
        checkpoint.record(say("Yes.", 100 + number, Speaker.AGENT))
    assert [place.line for place in checkpoint.said] == [2, 3, 4, 5, 6, 7, 8, 9]
    assert checkpoint.window == (20, 2)
    assert checkpoint.first_words == "Message 1."


def test_at_most_200_unknown_kinds_are_counted_apart_each_by_80_characters() -> None:
    checkpoint = Checkpoint()
    kinds = ["", "", *(f"{number:03}{'x' * 90}" for number in range(198)), "k", "l", "m", "k"]
    for kind in kinds:
        checkpoint.count_unknown(kind)
    counted = dict(checkpoint.unknown)
    assert (counted.pop("without a type"), counted.pop("k"), counted.pop("other")) == (2, 2, 2)
    assert counted == {f"{number:03}{'x' * 77}": 1 for number in range(198)}


CHECKPOINTS = st.builds(
    Checkpoint,
    id=st.text(max_size=5),
    title=st.text(max_size=5),
    title_rank=st.integers(0, 3),
    titles=st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=3),
    last_said=st.dictionaries(st.sampled_from(Speaker), st.text(max_size=3), max_size=2),
    said=st.lists(st.builds(MessagePlace, st.integers(0, 99), st.integers(1, 9)), max_size=3),
    offset=st.integers(0, 1 << 40),
    is_torn=st.booleans(),
)


@given(CHECKPOINTS, st.lists(st.text(max_size=3), max_size=4))
def test_what_is_stored_is_loaded_again(checkpoint: Checkpoint, kinds: list[str]) -> None:
    for kind in kinds:
        checkpoint.count_unknown(kind)
    loaded = load_checkpoint(dump_checkpoint(checkpoint))
    assert loaded == checkpoint
    # and can be gone on with
    loaded.count_unknown("more")
    loaded.record(say("Go on."))
    assert loaded.unknown["more"] == 1 + kinds.count("more")
    assert all(isinstance(place, MessagePlace) for place in loaded.said)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        json.dumps({"said": [[1, 2, 3]], "unknown": {}}),
        json.dumps({"said": [], "unknown": {}, "of_another_version": 1}),
        json.dumps({"said": []}),
    ],
)
def test_what_is_damaged_is_read_from_the_start(text: str) -> None:
    loaded = load_checkpoint(text)
    assert loaded == Checkpoint()
    assert (loaded.offset, loaded.line, loaded.is_torn, loaded.too_long) == (0, 1, False, 0)
