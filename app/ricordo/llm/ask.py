"""Asking a model: one question, one answer or one reason why there is none.

The model can do nothing but fill in one form. It is made to use it where it can be made to; some
models only take a tool as an offer, and then an answer without it is none.

It belongs on a loop of its own (`wait.py`): the client takes a while to load.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.question import AnswerProgress, Bounds, Meter, ModelAnswer, ModelQuestion, Phase

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

    from ricordo.llm.reply import StreamedReply


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of a model beyond an answer, and not had of every one."""

    is_forced: bool = True
    """That it has to use the tool; else it is offered, and an answer without it is none."""
    is_short: bool = True
    """That it thinks little: what it thinks counts as written."""

    def without(self, complaint: str) -> Wanted | None:
        """Return what is left to be wanted of a model that turned the question down in these words;
        None where they are about nothing of it.
        """
        if self.is_forced and "tool_choice" in complaint:
            return replace(self, is_forced=False)
        if self.is_short and ("output_config" in complaint or "effort" in complaint):
            return replace(self, is_short=False)
        return None


def request_of(question: ModelQuestion, wanted: Wanted) -> dict[str, Any]:
    """Return the request that asks `question`."""
    tool = question.tool
    choice = {"type": "tool", "name": tool.name} if wanted.is_forced else {"type": "auto"}
    form = {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
    content = [_part(question.stable, is_kept=True), _part(question.changing, is_kept=False)]
    effort = {"output_config": {"effort": "low"}} if wanted.is_short else {}
    return {
        **effort,
        "model": question.model,
        "max_tokens": question.most_output,
        "system": [_part(question.system, is_kept=True)],
        "tools": [{**form, "strict": True}],
        "tool_choice": {**choice, "disable_parallel_tool_use": True},
        "messages": [{"role": "user", "content": content}],
    }


def _part(text: str, *, is_kept: bool) -> dict[str, object]:
    part: dict[str, object] = {"type": "text", "text": text}
    return {**part, "cache_control": {"type": "ephemeral"}} if is_kept else part


_TELL_EVERY = 0.1
"""Seconds between two words of progress."""
_MINUTE, _HOUR, _DAY = 60, 3600, 24 * 3600
"""Seconds."""
_AGAIN = frozenset((FailureCause.RATE_LIMIT, FailureCause.SERVER, FailureCause.OVERLOADED))
"""What may be better in a moment, and cost nothing."""


@dataclass(frozen=True, slots=True)
class Server:
    """Who is asked."""

    base_url: str = ""
    """"" for the server that the environment names, else Anthropic's."""
    bounds: Bounds = field(default_factory=Bounds)


async def ask(
    server: Server,
    question: ModelQuestion,
    meter: Meter,
    tell: Callable[[AnswerProgress], None] = lambda _: None,
) -> ModelAnswer:
    """Return the answer to `question`; `meter` counts what it costs, `tell` is called at most ten
    times a second with how far it is. Raises ModelFailed. It can be cancelled at any time.
    """
    bounds = server.bounds
    tell(AnswerProgress(Phase.CONNECTING))
    try:
        async with asyncio.timeout(bounds.total) as deadline:
            async with _opened(server) as client:
                until = deadline.when()
                assert until is not None
                return await _answered(_Call(client, bounds, question, meter, tell, until))
    except TimeoutError:
        raise ModelFailed(FailureCause.TOO_SLOW, f"{bounds.total:g} seconds") from None


async def count(server: Server, question: ModelQuestion) -> int:
    """Return how many tokens it costs to ask `question`, as the server counts them. Raises
    ModelFailed.
    """
    from ricordo.llm.client import told_as_ours

    request = request_of(question, Wanted(is_short=False))
    del request["max_tokens"]
    try:
        async with asyncio.timeout(server.bounds.read), _opened(server) as client:
            with told_as_ours(server.bounds):
                counted = await client.messages.count_tokens(**request)
                tokens = getattr(counted, "input_tokens", None)
    except TimeoutError:
        raise ModelFailed(FailureCause.SILENT, f"{server.bounds.read:g} seconds") from None
    if type(tokens) is not int or tokens < 0:
        raise ModelFailed(FailureCause.NO_ANSWER, "It does not count tokens.")
    return tokens


@dataclass(slots=True)
class _Call:
    client: AsyncAnthropic
    bounds: Bounds
    question: ModelQuestion
    meter: Meter
    tell: Callable[[AnswerProgress], None]
    until: float
    """When there has to be an answer, by the clock of the loop."""
    wanted: Wanted = field(default_factory=Wanted)


@asynccontextmanager
async def _opened(server: Server) -> AsyncIterator[AsyncAnthropic]:
    from ricordo.llm.client import open_client

    client = open_client(server.base_url, server.bounds)
    try:
        yield client
    finally:
        await client.close()


async def _answered(call: _Call) -> ModelAnswer:
    number = 0
    while True:
        try:
            return await _try(call)
        except ModelFailed as failed:
            is_turned_down = failed.cause is FailureCause.BAD_REQUEST
            if is_turned_down and (less := call.wanted.without(failed.message)):
                call.wanted = less
                continue
            number += 1
            pause = _pause(failed, number, call.bounds)
            if pause is None or asyncio.get_running_loop().time() + pause >= call.until:
                raise _given_up(failed) from None
        await _rest(pause, call.tell)


def _pause(failed: ModelFailed, number: int, bounds: Bounds) -> float | None:
    """Return how many seconds to wait before the next try; None for no other one."""
    if failed.cause not in _AGAIN or number >= bounds.tries:
        return None
    if failed.wait is not None:
        return failed.wait if failed.wait <= bounds.longest_pause else None
    longest: float = bounds.pause * 4 ** (number - 1)
    return random.uniform(longest / 2, longest)


def _given_up(failed: ModelFailed) -> ModelFailed:
    if failed.wait is None or failed.wait < 1:
        return failed
    said = f"It answers again in {_told(failed.wait)}. {failed.detail}"
    return ModelFailed(failed.cause, said, wait=failed.wait)


def _told(seconds: float) -> str:
    """Return how long a wait is, in words."""
    if seconds > _DAY:
        return "more than a day"
    if seconds > 2 * _HOUR:
        return f"{seconds / _HOUR:.0f} hours"
    if seconds > 2 * _MINUTE:
        return f"{seconds / _MINUTE:.0f} minutes"
    return f"{seconds:.0f} seconds"


async def _rest(pause: float, tell: Callable[[AnswerProgress], None]) -> None:
    """Wait, and count down."""
    until = time.monotonic() + pause
    left = pause
    while left > 0:
        tell(AnswerProgress(Phase.PAUSING, seconds=left))
        await asyncio.sleep(min(left, 1.0))
        left = until - time.monotonic()


async def _try(call: _Call) -> ModelAnswer:
    from anthropic import AsyncStream

    from ricordo.llm.client import told_as_ours
    from ricordo.llm.reply import StreamedReply

    call.meter.next_try()
    call.meter.is_sent = True
    reading = StreamedReply(call.question.tool, call.meter)
    telling = _Telling(call.tell, reading)
    request = request_of(call.question, call.wanted)
    try:
        with told_as_ours(call.bounds):
            streaming = call.client.messages.with_streaming_response.create(**request, stream=True)
            async with streaming as response:
                async for event in AsyncStream.raw_events(response.http_response):
                    if not event.data:
                        continue
                    reading.take(event.data)
                    if reading.is_over:
                        break
                    telling.tell()
    finally:
        telling.end()
        if not reading.is_over:  # nobody has counted what was written
            call.meter.running = replace(call.meter.running, output_tokens=reading.tokens)
    return reading.answer()


class _Telling:
    """Tells how far a reply is: often enough, and at last also where nothing more comes."""

    def __init__(self, tell: Callable[[AnswerProgress], None], reading: StreamedReply) -> None:
        self._tell = tell
        self._reading = reading
        self._began = time.monotonic()
        self._told = float("-inf")
        self._soon: asyncio.TimerHandle | None = None

    def tell(self) -> None:
        pause = self._told + _TELL_EVERY - time.monotonic()
        if pause <= 0:
            self._tell_now()
        elif self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(pause, self._tell_now)

    def _tell_now(self) -> None:
        self.end()
        self._told = time.monotonic()
        reading, seconds = self._reading, self._told - self._began
        self._tell(AnswerProgress(reading.phase, reading.tokens, seconds, reading.tail))

    def end(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
