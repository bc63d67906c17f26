"""Replies of a server that speaks the Messages API: a good one, and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tests.support.messages_server import Asked, Script, Wire

STREAM = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
MODEL = "claude-test"
USAGE = {
    "input_tokens": 120,
    "cache_creation_input_tokens": 900,
    "cache_read_input_tokens": 3000,
    "output_tokens": 1,
}

Event = dict[str, Any]


def encode_event(event: Event) -> bytes:
    """Return an event as it is streamed."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def start(usage: dict[str, Any] | None = None) -> Event:
    return {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [],
            "stop_reason": None,
            "usage": USAGE if usage is None else usage,
        },
    }


def ending(stop_reason: str = "tool_use", output: int = 77) -> list[Event]:
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    return [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": output}},
        {"type": "message_stop"},
    ]


def block(index: int, opened: dict[str, Any], deltas: Iterable[dict[str, Any]]) -> Iterator[Event]:
    yield {"type": "content_block_start", "index": index, "content_block": opened}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def tool_block(text: str, *, index: int = 0, name: str = "propose", piece: int = 40) -> list[Event]:
    """Return the events of a tool block whose input is written as `text`."""
    pieces = [text[at : at + piece] for at in range(0, len(text), piece)]
    opened = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
    deltas = ({"type": "input_json_delta", "partial_json": it} for it in pieces)
    return list(block(index, opened, deltas))


def text_block(text: str, *, index: int = 0) -> list[Event]:
    return list(block(index, {"type": "text", "text": ""}, [{"type": "text_delta", "text": text}]))


def thinking_block(index: int = 0) -> list[Event]:
    deltas = [
        {"type": "thinking_delta", "thinking": "hm"},
        {"type": "signature_delta", "signature": "c2ln"},
    ]
    return list(block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas))


def message(
    value: object, *, piece: int = 40, output: int = 77, name: str = "propose"
) -> list[Event]:
    """Return the events of a good reply: one use of the tool, with `value` as its input."""
    return [
        start(),
        {"type": "ping"},
        *tool_block(json.dumps(value), piece=piece, name=name),
        *ending(output=output),
    ]


def streamed(events: Sequence[Event | bytes]) -> Script:
    """Answer with a stream that ends as it should."""

    def script(wire: Wire, asked: Asked) -> None:
        wire.begin(200, STREAM)
        for event in events:
            wire.send(event if isinstance(event, bytes) else encode_event(event))
        wire.end()

    return script


def good(value: object, name: str = "propose") -> Script:
    """Answer with a use of the tool."""
    return streamed(message(value, name=name))


def broken_off(events: Sequence[Event], how: Callable[[Wire], None]) -> Script:
    """Answer with some events and then with `how`: `Wire.cut`, `Wire.drop`, `Wire.stall`."""

    def script(wire: Wire, asked: Asked) -> None:
        wire.begin(200, STREAM)
        for event in events:
            wire.send(encode_event(event))
        how(wire)

    return script


def endless(pause: float = 0.01) -> Script:
    """Answer with a stream in which something comes all the time, and never an end."""

    def script(wire: Wire, asked: Asked) -> None:
        wire.begin(200, STREAM)
        wire.send(encode_event(start()))
        while wire.is_open(pause):
            wire.send(encode_event({"type": "ping"}))

    return script


def error(
    status: int, kind: str, words: str = "no", headers: dict[str, str] | None = None
) -> Script:
    """Answer with an error as the API words it."""
    body = {"type": "error", "error": {"type": kind, "message": words}}

    def script(wire: Wire, asked: Asked) -> None:
        wire.whole(status, {**JSON, **(headers or {})}, json.dumps(body).encode())

    return script


def plain(status: int, content: bytes, kind: str = "text/html") -> Script:
    """Answer with something else."""

    def script(wire: Wire, asked: Asked) -> None:
        wire.whole(status, {"content-type": kind}, content)

    return script


def counted(tokens: int) -> Script:
    """Answer a question for the number of tokens."""
    return plain(200, json.dumps({"input_tokens": tokens}).encode(), "application/json")


def picky(field: str, words: str, then: Script) -> Script:
    """Turn down whatever has a `field` in these `words`; answer the rest with `then`."""
    refused = error(400, "invalid_request_error", words)

    def script(wire: Wire, asked: Asked) -> None:
        (refused if field in asked.body.decode() else then)(wire, asked)

    return script


def no_forcing(then: Script) -> Script:
    """Answer as a model does that cannot be made to use a tool, else with `then`."""
    words = 'tool_choice: type "tool" and "any" are not supported for this model.'
    return picky('"tool_choice":{"type":"tool"', words, then)
