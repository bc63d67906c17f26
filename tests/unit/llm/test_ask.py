"""Asking a model: a real server on this machine, the real client, everything that goes wrong."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import socket
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from ricordo.llm import ask as ask_module
from ricordo.llm.ask import Server, ask, count_tokens
from ricordo.llm.client import open_client
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.question import (
    AnswerProgress,
    FormTool,
    Meter,
    ModelAnswer,
    ModelQuestion,
    Phase,
    RequestLimits,
    TokenUsage,
)
from ricordo.llm.redaction import Sealed
from tests.support import messages_replies as replies
from tests.support.messages_server import (
    Asked,
    MessagesServer,
    Script,
    Wire,
    messages_server,
    without_credentials,
)

KEY = "sk-ant-api03-" + "Wm4kTz8Qp1" * 9 + "AA"
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["edits"],
    "properties": {
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["op", "line"],
                "properties": {
                    "op": {"type": "string", "enum": ["keep", "drop"]},
                    "line": {"type": "integer"},
                },
            },
        }
    },
}
TOOL = FormTool("propose", "Propose.", SCHEMA)
QUESTION = ModelQuestion("claude-test", "Say.", Sealed("notes"), Sealed("talk"), TOOL)
VALUE = {"edits": [{"op": "keep", "line": 7}, {"op": "drop", "line": 8}]}
EVENTS = replies.message(VALUE, piece=9)
HASTY = RequestLimits(connect=2, read=0.3, total=60, max_bytes=100_000, max_tries=3, pause=0.01)
"""Bounds for what never answers; a slow machine has all the time that it needs for the rest."""
PATIENT = RequestLimits(pause=0.01)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


async def answered(
    server: MessagesServer, bounds: RequestLimits = PATIENT, meter: Meter | None = None
) -> ModelAnswer:
    return await ask(Server(server.url, bounds), QUESTION, meter or Meter())


async def failure(*scripts: Script, bounds: RequestLimits = PATIENT) -> ModelFailed:
    """Return why there is no answer."""
    with messages_server(*scripts) as server, pytest.raises(ModelFailed) as caught:
        await answered(server, bounds)
    assert KEY not in str(caught.value)
    return caught.value


async def test_an_answer_comes_whole_with_its_usage() -> None:
    told: list[AnswerProgress] = []
    meter = Meter()
    with messages_server(replies.good(VALUE)) as server:
        answer = await ask(Server(server.url, PATIENT), QUESTION, meter, told.append)
    usage = TokenUsage(input_tokens=120, cache_written=900, cache_read=3000, output_tokens=77)
    assert answer == ModelAnswer(VALUE, replies.MODEL, usage)
    assert (meter.usage, usage.sent, usage.total) == (usage, 4020, 4097)
    assert told[0].phase is Phase.CONNECTING
    assert told[-1].phase in (Phase.READING, Phase.WRITING)


async def test_one_tool_is_forced_and_what_is_stable_is_kept_in_the_cache() -> None:
    with messages_server(replies.good(VALUE)) as server:
        await answered(server)
    sent = server.asked[0].json
    assert sent["stream"] is True
    assert [tool["name"] for tool in sent["tools"]] == ["propose"]
    assert sent["tools"][0]["strict"] is True
    assert sent["tool_choice"]["name"] == "propose"
    assert sent["tool_choice"]["disable_parallel_tool_use"] is True
    stable, changing = sent["messages"][0]["content"]
    assert "cache_control" in sent["system"][0]
    assert "cache_control" in stable
    assert (stable["text"], changing) == ("notes", {"type": "text", "text": "talk"})


async def test_thinking_and_words_beside_the_tool_are_passed_over() -> None:
    events = [
        replies.start(),
        *replies.thinking_block(0),
        *replies.text_block("So:", index=1),
        {"type": "something_new", "of": "later"},
        *replies.tool_block(json.dumps(VALUE), index=2),
        *replies.ending(),
    ]
    with messages_server(replies.streamed(events)) as server:
        assert (await answered(server)).value == VALUE


async def test_input_in_the_first_event_is_accepted() -> None:
    opened = {"type": "tool_use", "id": "1", "name": "propose", "input": VALUE}
    events = [replies.start(), *replies.block(0, opened, ()), *replies.ending()]
    with messages_server(replies.streamed(events)) as server:
        assert (await answered(server)).value == VALUE


async def test_a_model_that_cannot_be_forced_is_offered_the_tool() -> None:
    with messages_server(replies.no_forcing(replies.good(VALUE))) as server:
        assert (await answered(server)).value == VALUE
    choices = [it.json["tool_choice"]["type"] for it in server.asked]
    assert choices == ["tool", "auto"]


async def test_a_model_that_knows_no_effort_is_asked_without() -> None:
    picky = replies.picky("output_config", "output_config: unknown", replies.good(VALUE))
    with messages_server(replies.no_forcing(picky)) as server:
        assert (await answered(server)).value == VALUE
    assert len(server.asked) == 3
    assert server.asked[0].json["output_config"] == {"effort": "low"}


async def test_a_model_that_only_talks_is_refused_with_that_reason() -> None:
    talk = replies.streamed(
        [replies.start(), *replies.text_block("Sure!"), *replies.ending("end_turn")]
    )
    failed = await failure(replies.no_forcing(talk))
    assert failed.cause is FailureCause.NO_TOOL
    assert "supports forced tool use" in str(failed)


STATUS = [
    (400, "invalid_request_error", FailureCause.BAD_REQUEST),
    (401, "authentication_error", FailureCause.WRONG_KEY),
    (403, "permission_error", FailureCause.FORBIDDEN),
    (404, "not_found_error", FailureCause.NOT_FOUND),
    (413, "request_too_large", FailureCause.TOO_LARGE),
    (422, "invalid_request_error", FailureCause.BAD_REQUEST),
]


@pytest.mark.parametrize(("status", "kind", "cause"), STATUS)
async def test_what_a_second_try_does_not_change_is_asked_once(
    status: int, kind: str, cause: FailureCause
) -> None:
    script = replies.error(status, kind, "you may not")
    with messages_server(script) as server, pytest.raises(ModelFailed) as caught:
        await answered(server)
    assert caught.value.cause is cause
    assert "you may not" in str(caught.value)
    assert caught.value.remedy in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "said",
    [
        "prompt is too long: 207791 tokens > 200000 maximum",
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens.",
        "the request exceeds the available context size. try increasing the context size",
    ],
)
async def test_what_is_longer_than_a_model_reads_is_told_as_too_large(said: str) -> None:
    told = {"type": "error", "error": {"type": "invalid_request_error", "message": said}}
    whole = replies.error(400, "invalid_request_error", said)
    for script in (whole, replies.streamed([replies.start(), told])):
        failed = await failure(script)
        assert failed.cause is FailureCause.TOO_LARGE
        assert said[:60] in str(failed)


BUSY = [
    (replies.error(429, "rate_limit_error"), FailureCause.RATE_LIMIT),
    (replies.error(429, "rate_limit_error", headers={"retry-after": "0"}), FailureCause.RATE_LIMIT),
    (replies.error(500, "api_error"), FailureCause.SERVER),
    (replies.plain(502, b"<html>bad gateway"), FailureCause.SERVER),
    (replies.error(529, "overloaded_error"), FailureCause.OVERLOADED),
    (
        replies.streamed(
            [replies.start(), {"type": "error", "error": {"type": "overloaded_error"}}]
        ),
        FailureCause.OVERLOADED,
    ),
]


@pytest.mark.parametrize(("script", "cause"), BUSY)
async def test_a_busy_server_is_asked_three_times_and_no_more(
    script: Script, cause: FailureCause
) -> None:
    with messages_server(script) as server, pytest.raises(ModelFailed) as caught:
        await answered(server)
    assert (caught.value.cause, len(server.asked)) == (cause, 3)


async def test_a_server_that_is_busy_once_answers_then() -> None:
    with messages_server(BUSY[-1][0], BUSY[1][0], replies.good(VALUE)) as server:
        meter = Meter()
        assert (await answered(server, meter=meter)).value == VALUE
    # what the broken stream cost is counted too
    assert meter.usage.sent == 2 * 4020


WAITS = {
    "100": "100 seconds",
    "3600": "60 minutes",
    "80000.4": "22 hours",
    "Wed, 21 Oct 2099 07:28:00 GMT": "more than a day",
    "Fri, 31 Dec 9999 23:59:59 GMT": "more than a day",
    "1e300": "more than a day",
    "inf": "more than a day",
}


@pytest.mark.parametrize("after", WAITS)
async def test_a_wait_that_is_too_long_is_told_and_not_sat_through(after: str) -> None:
    busy = replies.error(429, "rate_limit_error", "too many", headers={"retry-after": after})
    with messages_server(busy) as server, pytest.raises(ModelFailed) as caught:
        await answered(server)
    assert len(server.asked) == 1
    told = f"It answers again in {WAITS[after]}. It says: “too many”. Try again later."
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "after", ["-5", "0", "nan", "soon", "Wed, 21 Oct 1999 07:28:00 GMT", "1 Jan 2020 0:0 +9999999"]
)
async def test_a_wait_that_is_none_is_not_told(after: str) -> None:
    busy = replies.error(429, "rate_limit_error", "too many", headers={"retry-after": after})
    failed = await failure(busy)
    assert failed.cause is FailureCause.RATE_LIMIT
    assert "again in" not in str(failed)
    assert "It says: “too many”. Try again later." in str(failed)


async def test_the_user_sees_the_pause_count_down() -> None:
    busy = replies.error(429, "rate_limit_error", headers={"retry-after": "0.05"})
    told: list[AnswerProgress] = []
    with messages_server(busy, replies.good(VALUE)) as server:
        await ask(Server(server.url, PATIENT), QUESTION, Meter(), told.append)
    assert any(it.phase is Phase.PAUSING and 0 < it.seconds <= 0.05 for it in told)


async def test_a_wait_is_told_though_it_is_over_before_anything_else_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # as on a busy machine: more time passes between two looks at the clock than the wait is long
    clock = itertools.count(0.0, 60.0)
    monkeypatch.setattr(ask_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    busy = replies.error(429, "rate_limit_error", headers={"retry-after": "0.05"})
    told: list[AnswerProgress] = []
    with messages_server(busy, replies.good(VALUE)) as server:
        await ask(Server(server.url, PATIENT), QUESTION, Meter(), told.append)
    assert [it.seconds for it in told if it.phase is Phase.PAUSING] == [0.05]


@pytest.mark.parametrize("number", range(len(EVENTS)))
async def test_a_stream_that_ends_before_its_end_is_no_answer(number: int) -> None:
    failed = await failure(replies.streamed(EVENTS[:number]))
    assert failed.cause is (FailureCause.INTERRUPTED if number else FailureCause.NO_ANSWER)


@pytest.mark.parametrize("how", [Wire.cut, Wire.drop])
@pytest.mark.parametrize("number", range(len(EVENTS)))
async def test_a_connection_that_is_cut_is_no_answer(number: int, how: str) -> None:
    failed = await failure(replies.broken_off(EVENTS[:number], how))  # type: ignore[arg-type]
    assert failed.cause is FailureCause.INTERRUPTED


async def test_what_comes_after_the_end_is_not_waited_for() -> None:
    with messages_server(replies.broken_off(EVENTS, Wire.stall)) as server:
        assert (await answered(server)).value == VALUE


@pytest.mark.parametrize("number", [0, 1, 5])
async def test_silence_ends(number: int) -> None:
    failed = await failure(replies.broken_off(EVENTS[:number], Wire.stall), bounds=HASTY)
    assert failed.cause is FailureCause.SILENT


async def test_an_answer_that_takes_for_ever_ends() -> None:
    failed = await failure(replies.endless(), bounds=replace(PATIENT, total=0.5))
    assert failed.cause is FailureCause.TOO_SLOW


async def test_no_pause_leads_beyond_the_deadline() -> None:
    busy = replies.error(429, "rate_limit_error", headers={"retry-after": "20"})
    with messages_server(busy) as server, pytest.raises(ModelFailed) as caught:
        await answered(server, replace(PATIENT, total=19))
    assert (caught.value.cause, len(server.asked)) == (FailureCause.RATE_LIMIT, 1)


def stopped(reason: str) -> Script:
    return replies.streamed([*EVENTS[:-2], *replies.ending(reason)])


def proposing(text: str, **options: object) -> Script:
    block = replies.tool_block(text, **options)  # type: ignore[arg-type]
    return replies.streamed([replies.start(), *block, *replies.ending()])


def edit(**fields: object) -> Script:
    return proposing(json.dumps({"edits": [fields]}))


WHOLE = json.dumps(VALUE)
TWICE = [
    *replies.tool_block(WHOLE),
    *replies.tool_block(WHOLE, index=1),
]
PIECE_OF_LIST = {
    "type": "content_block_delta",
    "index": 0,
    "delta": {"type": "input_json_delta", "partial_json": []},
}
OUT_OF_ORDER = {
    "no beginning": EVENTS[1:],
    "two beginnings": [EVENTS[0], *EVENTS],
    "a piece of nothing": [EVENTS[0], *EVENTS[3:]],
    "a block in a block": [*EVENTS[:3], EVENTS[2], *EVENTS[3:]],
    "another index": [EVENTS[0], {**EVENTS[2], "index": 4}, *EVENTS[3:]],
    "a list": [EVENTS[0], b'event: x\ndata: ["message_stop"]\n\n'],
    "no JSON": [EVENTS[0], b"event: x\ndata: {{{\n\n"],
    "no UTF-8": [EVENTS[0], b"event: x\ndata: \xff\xfe\n\n"],
    "deep": [EVENTS[0], b"event: x\ndata: " + b"[" * 50_000 + b"\n\n"],
    "message of another kind": [{"type": "message_start", "message": {"type": "completion"}}],
    "a piece that is no text": [*EVENTS[:2], {**EVENTS[2]}, PIECE_OF_LIST],
    "no message": [{"type": "message_start", "message": None}],
}
BAD = {
    "max_tokens": (stopped("max_tokens"), FailureCause.TRUNCATED),
    "window": (stopped("model_context_window_exceeded"), FailureCause.TRUNCATED),
    "refusal": (
        replies.streamed([replies.start(), *replies.ending("refusal")]),
        FailureCause.REFUSED,
    ),
    "refusal with a tool": (stopped("refusal"), FailureCause.REFUSED),
    "end_turn with a tool": (stopped("end_turn"), FailureCause.NO_TOOL),
    "pause": (stopped("pause_turn"), FailureCause.NO_TOOL),
    "no reason": (stopped(""), FailureCause.NO_TOOL),
    "nothing": (
        replies.streamed([replies.start(), *replies.ending("end_turn")]),
        FailureCause.NO_TOOL,
    ),
    "html": (replies.plain(200, b"<html>Log in to the hotel</html>"), FailureCause.NO_ANSWER),
    "empty": (replies.plain(200, b""), FailureCause.NO_ANSWER),
    "no stream": (
        replies.plain(200, json.dumps(replies.start()["message"]).encode(), "application/json"),
        FailureCause.NO_ANSWER,
    ),
    "redirect": (replies.plain(307, b""), FailureCause.NO_ANSWER),
    "packed": (
        lambda wire, asked: wire.whole(
            200, {**replies.STREAM, "content-encoding": "gzip"}, gzip.compress(bytes(1 << 20))
        ),
        FailureCause.NO_ANSWER,
    ),
    "malformed": (proposing(WHOLE[:-2]), FailureCause.MALFORMED),
    "more than one": (proposing(WHOLE + WHOLE), FailureCause.MALFORMED),
    "text as input": (proposing(json.dumps(WHOLE)), FailureCause.MALFORMED),
    "null": (proposing('{"edits": null}'), FailureCause.MALFORMED),
    "nothing in it": (proposing("{}"), FailureCause.MALFORMED),
    "no input": (proposing(""), FailureCause.MALFORMED),
    "a field too many": (proposing('{"edits": [], "also": 1}'), FailureCause.MALFORMED),
    "a field twice": (proposing('{"edits": [1], "edits": []}'), FailureCause.MALFORMED),
    "NaN": (proposing('{"edits": [{"op": "keep", "line": NaN}]}'), FailureCause.MALFORMED),
    "a field missing": (edit(op="keep"), FailureCause.MALFORMED),
    "unknown word": (edit(op="burn", line=1), FailureCause.MALFORMED),
    "true for a number": (edit(op="keep", line=True), FailureCause.MALFORMED),
    "text for a number": (edit(op="keep", line="1"), FailureCause.MALFORMED),
    "surrogate": (edit(op="\ud800", line=1), FailureCause.MALFORMED),
    "another tool": (proposing(WHOLE, name="run"), FailureCause.MALFORMED),
    "two uses": (
        replies.streamed([replies.start(), *TWICE, *replies.ending()]),
        FailureCause.MALFORMED,
    ),
    "not closed": (
        replies.streamed([*EVENTS[:-3], *EVENTS[-2:]]),
        FailureCause.MALFORMED,
    ),
    **{name: (replies.streamed(it), FailureCause.NO_ANSWER) for name, it in OUT_OF_ORDER.items()},
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_reply_is_none(name: str) -> None:
    script, cause = BAD[name]
    failed = await failure(script)
    assert failed.cause is cause
    assert failed.remedy in str(failed)


PIECE = b"y" * 65_536
HUGE = {
    "in pieces": (
        200,
        replies.encode_event(replies.start()),
        replies.encode_event({"type": "ping"}) * 3000,
    ),
    "in one": (200, b"event: x\ndata: ", PIECE),
    "as an error": (400, b"", PIECE),
}


@pytest.mark.parametrize("name", HUGE)
async def test_of_twenty_megabytes_no_more_is_read_than_is_wanted(name: str) -> None:
    status, first, piece = HUGE[name]

    def script(wire: Wire, asked: Asked) -> None:
        wire.begin(status, replies.STREAM)
        wire.send(first)
        for _ in range(20 * 1024 * 1024 // len(piece)):
            wire.send(piece)
        wire.end()

    failed = await failure(script, bounds=replace(PATIENT, max_bytes=200_000))
    assert failed.cause is FailureCause.TOO_LONG


async def test_what_a_server_says_is_clipped_made_visible_and_masked() -> None:
    words = f"\x1b]52;c;aGk=\x07 your key {KEY} is bad {'x' * 5000}"
    failed = await failure(replies.error(403, "permission_error", words))
    assert "\x1b" not in str(failed)
    assert len(str(failed)) < 600


async def test_asking_ends_at_once_when_it_is_cancelled() -> None:
    meter = Meter()
    with messages_server(replies.endless()) as server:
        asking = asyncio.create_task(answered(server, meter=meter))
        while not meter.usage.sent:
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    # what was sent was paid for
    assert meter.usage.sent == 4020


async def test_of_an_answer_that_breaks_off_it_is_estimated_what_was_written() -> None:
    meter = Meter()
    events = replies.message({"edits": [{"op": "keep", "line": 10**400}]})[:-4]
    with messages_server(replies.streamed(events)) as server, pytest.raises(ModelFailed):
        await answered(server, meter=meter)
    assert 60 < meter.usage.output_tokens < 140


async def test_nobody_there() -> None:
    with messages_server(replies.good(VALUE)) as server:
        pass
    with pytest.raises(ModelFailed) as caught:
        await answered(server)
    assert caught.value.cause is FailureCause.UNREACHABLE


async def test_nobody_picks_up() -> None:
    with socket.socket() as line, socket.socket() as first, socket.socket() as second:
        line.bind(("127.0.0.1", 0))
        line.listen(0)
        # what waits to be picked up already leaves no room for us
        for it in (first, second):
            it.setblocking(False)
            it.connect_ex(line.getsockname())
        url = f"http://127.0.0.1:{line.getsockname()[1]}"
        with pytest.raises(ModelFailed) as caught:
            await ask(Server(url, replace(PATIENT, connect=0.3, read=0.3)), QUESTION, Meter())
    assert caught.value.cause in (FailureCause.UNREACHABLE, FailureCause.SILENT)


@pytest.mark.parametrize("url", ["http://[::1", "ftp://127.0.0.1/", "http://", "nonsense"])
async def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ModelFailed) as caught:
        await ask(Server(url, HASTY), QUESTION, Meter())
    assert caught.value.cause in (FailureCause.SETUP, FailureCause.UNREACHABLE)
    assert ". Check the " in caught.value.message


@pytest.mark.parametrize(
    "proxy", ["http://user:hunter2hunter2@127.0.0.1:1", "http://user:hunter2hunter2@[", "::"]
)
async def test_a_dead_or_malformed_proxy_is_named_and_its_value_is_not(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(ModelFailed) as caught:
        await ask(Server("https://model.invalid", HASTY), QUESTION, Meter())
    assert "HTTPS_PROXY" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.fixture
def keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")


@pytest.mark.usefixtures("keyless")
async def test_without_a_key_nothing_is_sent_and_the_variable_is_named() -> None:
    meter = Meter()
    with pytest.raises(ModelFailed) as caught:
        await ask(Server("", PATIENT), QUESTION, meter)
    assert (caught.value.cause, meter.is_sent) == (FailureCause.NO_KEY, False)
    assert "ANTHROPIC_API_KEY" in str(caught.value)
    with pytest.raises(ModelFailed, match="ANTHROPIC_API_KEY"):
        open_client("", PATIENT)


@pytest.mark.usefixtures("keyless")
async def test_a_server_of_ones_own_needs_no_key() -> None:
    with messages_server(replies.good(VALUE)) as server:
        assert (await answered(server)).value == VALUE


def test_a_key_is_found() -> None:
    assert open_client("", PATIENT).api_key == KEY


@pytest.mark.parametrize(
    ("url", "is_sent"), [("https://model.example", True), ("http://model.example", False)]
)
def test_a_key_goes_nowhere_unless_over_tls_or_to_this_machine(url: str, is_sent: bool) -> None:
    client = open_client(url, PATIENT)
    assert (KEY in str(client.auth_headers)) is is_sent
    assert str(client.base_url).rstrip("/") == url


async def test_tokens_are_counted_by_the_server() -> None:
    with messages_server(replies.counted(4711)) as server:
        assert await count_tokens(Server(server.url, PATIENT), QUESTION) == 4711
    assert server.asked[0].path.endswith("/count_tokens")


@pytest.mark.parametrize(
    "script",
    [replies.error(404, "not_found_error"), replies.plain(200, b"hi"), replies.counted(-1)],
)
async def test_a_server_that_cannot_count_says_so(script: Script) -> None:
    with messages_server(script) as server, pytest.raises(ModelFailed):
        await count_tokens(Server(server.url, PATIENT), QUESTION)


def test_asked_keeps_what_was_sent() -> None:
    assert Asked("POST", "/", {}, b'{"a": 1}').json == {"a": 1}
