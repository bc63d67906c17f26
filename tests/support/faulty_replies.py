"""Everything that a server can answer but a good reply, each kind with as many faces as one likes.

A fault is made by a `Random`: where a stream breaks, what a field holds, in which pieces it comes.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from ricordo.llm.failure import FailureCause
from tests.support import messages_replies as replies
from tests.support.messages_replies import JSON, STREAM, Event, encode_event, error, plain, streamed
from tests.support.messages_server import Asked, Script, Wire


class Fault(NamedTuple):
    """A kind of bad reply."""

    make: Callable[[Random, dict[str, Any]], Script]
    """Makes one, by chance, around an edit that would be a good one."""
    causes: frozenset[FailureCause]
    """As which it may be reported; none where it is an answer, of which a person decides."""
    may_heal: bool = False
    """Whether what is lost or doubled may be nothing that counts, so that the answer is good."""


def events_of(random: Random, edits: Sequence[object]) -> list[Event]:
    """Return a good stream, in pieces of some size, with or without what models do beside it."""
    beside: list[Event] = []
    index = 0
    if random.random() < 0.5:
        beside, index = replies.thinking_block(), 1
    text = json.dumps({"edits": edits})
    tool = replies.tool_block(text, index=index, piece=random.choice((7, 40, 300, 5_000)))
    return [replies.start(), *beside, {"type": "ping"}, *tool, *replies.ending()]


def _broken(how: Callable[[Wire], None]) -> Callable[[Random, dict[str, Any]], Script]:
    """Break a good stream at one of its events, or within it."""

    def make(random: Random, edit: dict[str, Any]) -> Script:
        content = [encode_event(it) for it in events_of(random, [edit])]
        at = random.randrange(len(content))
        torn = content[at][: random.randrange(len(content[at]) - 2)]

        def script(wire: Wire, asked: Asked) -> None:
            wire.begin(200, STREAM)
            for piece in (*content[:at], torn):
                wire.send(piece)
            how(wire)

        return script

    return make


def _status(*statuses: int, **headers: str) -> Callable[[Random, dict[str, Any]], Script]:
    kinds = ("invalid_request_error", "api_error", "overloaded_error", "no_such_error")
    bodies = (b"", b"<html>no", b"[]", b'{"error": "no"}', b'{"error": {"message": 7}}', b"\xff")

    def make(random: Random, _: dict[str, Any]) -> Script:
        status = random.choice(statuses)
        if random.random() < 0.5:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return error(status, random.choice(kinds), "no " * random.randrange(900), named)
        return plain(status, random.choice(bodies), random.choice(("text/html", JSON_TYPE)))

    return make


JSON_TYPE = JSON["content-type"]


def _stopped(*reasons: str) -> Callable[[Random, dict[str, Any]], Script]:
    def make(random: Random, edit: dict[str, Any]) -> Script:
        events = events_of(random, [edit])[:-2]
        return streamed([*events, *replies.ending(random.choice(reasons))])

    return make


def _within(*kinds: str) -> Callable[[Random, dict[str, Any]], Script]:
    """Tell of an error in the middle of a stream."""

    def make(random: Random, edit: dict[str, Any]) -> Script:
        events = events_of(random, [edit])
        at = random.randrange(1, len(events))
        words = {"type": random.choice(kinds), "message": "no"}
        return streamed([*events[:at], {"type": "error", "error": words}])

    return make


def _input(*texts: str) -> Callable[[Random, dict[str, Any]], Script]:
    """Use the tool with something else."""

    def make(random: Random, edit: dict[str, Any]) -> Script:
        text = random.choice(texts).replace("EDIT", json.dumps(edit))
        tool = replies.tool_block(text, piece=random.choice((3, 50)))
        return streamed([replies.start(), *tool, *replies.ending()])

    return make


def _shape(random: Random, edit: dict[str, Any]) -> Script:
    """Give one field something that it cannot have, or lack one, or have one too many."""
    name = random.choice(sorted(edit))
    odd = [None, [], {}, 1.5, True, "\ud800", [[[]]], {"a": {}}, -(10**30)]
    changed = random.choice(
        (
            {key: value for key, value in edit.items() if key != name},
            {**edit, "path": "../../etc/passwd"},
            {**edit, name: random.choice([it for it in odd if type(it) is not type(edit[name])])},
            {**edit, "op": random.choice(("delete", "", "Replace", "replace "))},
            {**edit, "evidence": [random.choice(odd)]},
        )
    )
    return replies.good({"edits": [edit, changed]})


def _disorder(random: Random, edit: dict[str, Any]) -> Script:
    """Lose, double, swap or spoil one event that matters."""
    events = [it for it in events_of(random, [edit]) if it["type"] != "ping"]
    at = random.randrange(len(events) - 1)
    spoilt: list[list[Event]] = [
        [*events[:at], events[at], *events[at:]],
        [*events[:at], {**events[at], "index": 9, "message": 7, "delta": 7}, *events[at + 1 :]],
        [*events[:at], {"type": events[at]["type"]}, *events[at + 1 :]],
    ]
    if events[at]["type"] in ("message_start", "content_block_start", "content_block_stop"):
        spoilt.append([*events[:at], *events[at + 1 :]])
    return streamed(random.choice(spoilt))


def _no_events(random: Random, edit: dict[str, Any]) -> Script:
    data = random.choice((b"{{{", b"\xff\xfe", b"[]", b"7", b"null", b"[" * 90_000, b'"x"'))
    return streamed([replies.start(), b"event: message_delta\ndata: " + data + b"\n\n"])


def _flood(random: Random, edit: dict[str, Any]) -> Script:
    """Send twenty megabytes: as one event, as many, or as an error."""
    status, first, piece = random.choice(
        (
            (200, b"event: x\ndata: ", b"y" * 65_536),
            (200, encode_event(replies.start()), encode_event({"type": "ping"}) * 3_000),
            (400, b"", b"y" * 65_536),
        )
    )

    def script(wire: Wire, asked: Asked) -> None:
        wire.begin(status, STREAM)
        wire.send(first)
        for _ in range(20 * 1024 * 1024 // len(piece)):
            wire.send(piece)
        wire.end()

    return script


def _packed(random: Random, edit: dict[str, Any]) -> Script:
    body = gzip.compress(bytes(1 << 22))
    return lambda wire, _: wire.whole(200, {**STREAM, "content-encoding": "gzip"}, body)


def _not_http(random: Random, edit: dict[str, Any]) -> Script:
    """Answer what is no HTTP, or not what it says of itself."""
    raw = random.choice(
        (
            b"",
            b"SSH-2.0-OpenSSH_9.2\r\n",
            b"HTTP/1.1 abc\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n" + b"x" * 200_000,
            b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n" + encode_event(replies.start()),
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nx\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            bytes(random.randrange(256) for _ in range(200)),
        )
    )
    return lambda wire, _: wire.raw(raw)


def _drip(random: Random, edit: dict[str, Any]) -> Script:
    """Say something all the time, and never get anywhere."""
    content = random.choice(
        (encode_event({"type": "ping"}), b": keep alive\n\n", encode_event(replies.start())[:200])
    )

    def script(wire: Wire, asked: Asked) -> None:
        wire.begin(200, STREAM)
        at = 0
        while wire.is_open(0.01):
            wire.send(content[at : at + 20] or b"\n")
            at = (at + 20) % len(content)

    return script


def _silent(random: Random, edit: dict[str, Any]) -> Script:
    return lambda wire, _: wire.stall()


def _words(random: Random, edit: dict[str, Any]) -> Script:
    text = random.choice(("Sure.", json.dumps({"edits": [edit]}), "[tool_use] propose", ""))
    events = [replies.start(), *replies.text_block(text), *replies.ending("end_turn")]
    return streamed(events)


def _other_tool(random: Random, edit: dict[str, Any]) -> Script:
    text = json.dumps({"edits": [edit]})
    second = replies.tool_block(text, index=1, name=random.choice(("propose", "bash", "")))
    first = replies.tool_block(text, name=random.choice(("Propose", "bash", "apply", "")))
    blocks = random.choice(([*replies.tool_block(text), *second], first))
    return streamed([replies.start(), *blocks, *replies.ending()])


def _odd_usage(random: Random, edit: dict[str, Any]) -> Script:
    """Count what cannot be; the answer is a good one."""
    odd = [None, -1, 1.5, True, "many", 1 << 70, [], {}]
    usage = {name: random.choice(odd) for name in replies.USAGE}
    tool = replies.tool_block(json.dumps({"edits": [edit]}))
    return streamed([replies.start(random.choice((usage, {}))), *tool, *replies.ending()])


def _nobody(random: Random, edit: dict[str, Any]) -> Script:
    """Edit notes that are not there, in ways that cannot be."""
    names = ("n0", "n99", "N1", "tides.md", "../../etc/passwd", "", "t1", "n1\n", "n" + "9" * 5_000)
    edits = [{**edit, "note": random.choice(names)} for _ in range(random.randrange(1, 9))]
    return replies.good({"edits": edits})


def _everything(random: Random, edit: dict[str, Any]) -> Script:
    """Delete, empty and overwrite every note."""
    gone = [{**edit, "op": "retire", "note": note} for note in ("n1", "n2", "n3")]
    empty = [{**edit, "op": "rewrite", "note": note, "text": ""} for note in ("n1", "n2")]
    halved = [{**edit, "op": "replace", "old": "The port is Sines.", "text": "... rest unchanged"}]
    edits = [*gone, *empty, *halved]
    random.shuffle(edits)
    return replies.good({"edits": edits})


def _huge(random: Random, edit: dict[str, Any]) -> Script:
    """Propose more than anybody reads."""
    size = random.choice((66_000, 90_000))
    many = [{**edit, "op": "create", "name": f"note {n}", "type": "project"} for n in range(60)]
    return replies.good({"edits": random.choice((many, [{**edit, "text": "x" * size}]))})


def _of(*causes: FailureCause) -> frozenset[FailureCause]:
    return frozenset(causes)


CUT = _of(FailureCause.INTERRUPTED, FailureCause.NO_ANSWER)
SPOILT = _of(
    FailureCause.NO_ANSWER, FailureCause.MALFORMED, FailureCause.NO_TOOL, FailureCause.INTERRUPTED
)
SHAPE = _of(FailureCause.MALFORMED)
ANSWER: frozenset[FailureCause] = frozenset()

FAULTS: dict[str, Fault] = {
    "clean end": Fault(_broken(Wire.end), CUT),
    "reset": Fault(_broken(Wire.cut), CUT),
    "closed": Fault(_broken(Wire.drop), CUT),
    "stall": Fault(_broken(Wire.stall), _of(FailureCause.SILENT)),
    "silence": Fault(_silent, _of(FailureCause.SILENT)),
    "drip": Fault(_drip, _of(FailureCause.TOO_SLOW, FailureCause.NO_ANSWER)),
    "400": Fault(_status(400, 409, 418, 422), _of(FailureCause.BAD_REQUEST)),
    "401": Fault(_status(401), _of(FailureCause.WRONG_KEY)),
    "402": Fault(_status(402, 407, 451), _of(FailureCause.BAD_REQUEST)),
    "403": Fault(_status(403), _of(FailureCause.FORBIDDEN)),
    "404": Fault(_status(404), _of(FailureCause.NOT_FOUND)),
    "408": Fault(_status(408), _of(FailureCause.SERVER)),
    "413": Fault(_status(413), _of(FailureCause.TOO_LARGE)),
    "429": Fault(_status(429), _of(FailureCause.RATE_LIMIT)),
    "429, at once": Fault(_status(429, retry_after="0"), _of(FailureCause.RATE_LIMIT)),
    "429, tomorrow": Fault(_status(429, retry_after="86400"), _of(FailureCause.RATE_LIMIT)),
    "429, nonsense": Fault(_status(429, retry_after="nan, soon"), _of(FailureCause.RATE_LIMIT)),
    "500": Fault(_status(500, 501), _of(FailureCause.SERVER)),
    "502": Fault(_status(502, 503, 504, 599), _of(FailureCause.SERVER)),
    "529": Fault(_status(529), _of(FailureCause.OVERLOADED)),
    "redirect": Fault(_status(301, 302, 307, 308, location="http://127.0.0.1:9/"), SPOILT),
    "overload inside": Fault(_within("overloaded_error"), _of(FailureCause.OVERLOADED)),
    "failure inside": Fault(_within("api_error", "no_such_error"), _of(FailureCause.SERVER)),
    "too many inside": Fault(_within("rate_limit_error"), _of(FailureCause.RATE_LIMIT)),
    "wrong key inside": Fault(_within("authentication_error"), _of(FailureCause.WRONG_KEY)),
    "max_tokens": Fault(
        _stopped("max_tokens", "model_context_window_exceeded"), _of(FailureCause.TRUNCATED)
    ),
    "refusal": Fault(_stopped("refusal"), _of(FailureCause.REFUSED)),
    "another end": Fault(
        _stopped("end_turn", "pause_turn", "stop_sequence", "", "new"), _of(FailureCause.NO_TOOL)
    ),
    "own words": Fault(_words, _of(FailureCause.NO_TOOL)),
    "another tool": Fault(_other_tool, SHAPE),
    "html": Fault(_status(200), _of(FailureCause.NO_ANSWER)),
    "nothing": Fault(_status(204, 205), _of(FailureCause.NO_ANSWER)),
    "no HTTP": Fault(
        _not_http, _of(FailureCause.INTERRUPTED, FailureCause.NO_ANSWER, FailureCause.UNREACHABLE)
    ),
    "no events": Fault(_no_events, _of(FailureCause.NO_ANSWER)),
    "disorder": Fault(_disorder, SPOILT, may_heal=True),
    "packed": Fault(_packed, _of(FailureCause.NO_ANSWER)),
    "20 MB": Fault(_flood, _of(FailureCause.TOO_LONG)),
    "malformed": Fault(
        _input('{"edits": [EDIT]', '{"edits": [EDIT}]', "{edits: []}", '{"edits": [EDIT]}x', "{"),
        SHAPE,
    ),
    "doubled": Fault(
        _input('{"edits": [], "edits": [EDIT]}', '{"edits": []}{"edits": [EDIT]}'), SHAPE
    ),
    "no object": Fault(_input('"EDIT"', "[EDIT]", "null", "7", "NaN", "[" * 5_000), SHAPE),
    "no list": Fault(
        _input('{"edits": null}', '{"edits": EDIT}', '{"edits": "[]"}', "{}", '{"edit": []}'), SHAPE
    ),
    "another shape": Fault(_shape, SHAPE),
    "odd counts": Fault(_odd_usage, ANSWER),
    "unknown ids": Fault(_nobody, ANSWER),
    "deletes everything": Fault(_everything, ANSWER),
    "too much": Fault(_huge, ANSWER),
}
"""By what is wrong."""
