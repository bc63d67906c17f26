"""Whatever is streamed, it is an answer or told as none; nothing else is ever raised."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ricordo.llm.failure import ModelFailed
from ricordo.llm.question import FormTool, Meter
from ricordo.llm.reply import StreamedReply
from tests.support import messages_replies as replies

SCHEMA = {"type": "object", "properties": {"edits": {"type": "array", "items": {"type": "string"}}}}
TOOL = FormTool("propose", "", SCHEMA)
GOOD = [it for it in replies.message({"edits": ["one", "two"]}, piece=5) if it["type"] != "ping"]
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda it: st.lists(it, max_size=3) | st.dictionaries(st.text(max_size=5), it, max_size=3),
    max_leaves=5,
)


def read(events: list[Any]) -> object:
    """Return the value that was streamed; None where there is none."""
    reading = StreamedReply(TOOL, Meter())
    try:
        for event in events:
            reading.feed(event if isinstance(event, str) else json.dumps(event))
        return reading.read_answer().value
    except ModelFailed:
        return None


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the place of every value inside `value`."""
    inner = value.items() if isinstance(value, dict) else ()
    return [at, *(place for key, it in inner for place in paths(it, (*at, key)))]


def put(value: Any, place: tuple[Any, ...], other: Any) -> Any:
    """Return `value` with something else at a place."""
    if not place:
        return other
    return {**value, place[0]: put(value[place[0]], place[1:], other)}


def test_a_good_stream_is_read() -> None:
    assert read(GOOD) == {"edits": ["one", "two"]}


@given(st.lists(ODD | st.text(max_size=20), max_size=5))
def test_anything(events: list[Any]) -> None:
    assert read([*events, *GOOD]) in (None, {"edits": ["one", "two"]})


@given(st.data())
def test_a_good_stream_with_something_odd_in_it(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(GOOD) - 1))
    place = data.draw(st.sampled_from(paths(GOOD[number])))
    events: list[Any] = list(GOOD)
    events[number] = put(GOOD[number], place, data.draw(ODD))
    value = read(events)
    assert value is None or isinstance(value, dict)


@given(st.lists(st.sampled_from(GOOD), max_size=len(GOOD) + 2))
def test_its_events_in_any_order(events: list[Any]) -> None:
    value = read(events)
    assert value is None or isinstance(value, dict)
