"""Ask a model one question and return one answer, or raise the one reason why there is none.

The model can only fill in one form, sent as a tool. Where the model supports it the tool is forced;
other models are offered it, and an answer without it counts as none.

Run this on an event loop of its own (`wait.py`): the client takes a while to load.
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
from ricordo.llm.question import (
    AnswerProgress,
    Meter,
    ModelAnswer,
    ModelQuestion,
    Phase,
    RequestLimits,
)

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

    from ricordo.llm.reply import StreamedReply


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """Options of a request that not every model supports."""

    is_forced: bool = True
    """Whether the model has to use the tool; else it is offered."""
    is_short: bool = True
    """Whether the model should think little: thinking counts as output."""

    def drop_rejected(self, complaint: str) -> RequestOptions | None:
        """Return the options without the one that a model's `complaint` is about; None where it is
        about none of them.
        """
        if self.is_forced and "tool_choice" in complaint:
            return replace(self, is_forced=False)
        if self.is_short and ("output_config" in complaint or "effort" in complaint):
            return replace(self, is_short=False)
        return None


def build_request(question: ModelQuestion, options: RequestOptions) -> dict[str, Any]:
    """Return the body of the request that asks `question`."""
    tool = question.tool
    choice = {"type": "tool", "name": tool.name} if options.is_forced else {"type": "auto"}
    content = [_part(question.stable, is_cached=True), _part(question.changing, is_cached=False)]
    effort = {"output_config": {"effort": "low"}} if options.is_short else {}
    return {
        **effort,
        "model": question.model,
        "max_tokens": question.max_output,
        "system": [_part(question.system, is_cached=True)],
        "tools": [tool.definition],
        "tool_choice": {**choice, "disable_parallel_tool_use": True},
        "messages": [{"role": "user", "content": content}],
    }


def _part(text: str, *, is_cached: bool) -> dict[str, object]:
    part: dict[str, object] = {"type": "text", "text": text}
    return {**part, "cache_control": {"type": "ephemeral"}} if is_cached else part


_REPORT_INTERVAL = 0.1
"""Seconds between two progress reports."""
_MINUTE, _HOUR, _DAY = 60, 3600, 24 * 3600
"""Seconds."""
_RETRIED = frozenset((FailureCause.RATE_LIMIT, FailureCause.SERVER, FailureCause.OVERLOADED))
"""Failures that cost nothing and may pass soon."""


@dataclass(frozen=True, slots=True)
class Server:
    """The server to ask."""

    base_url: str = ""
    """"" for the server that the environment names, or else Anthropic's."""
    limits: RequestLimits = field(default_factory=RequestLimits)


async def ask(
    server: Server,
    question: ModelQuestion,
    meter: Meter,
    report: Callable[[AnswerProgress], None] = lambda _: None,
) -> ModelAnswer:
    """Return the answer to `question`. `meter` counts the tokens; `report` gets the progress, at
    most ten times a second. Can be cancelled at any time. Raises ModelFailed.
    """
    bounds = server.limits
    report(AnswerProgress(Phase.CONNECTING))
    try:
        async with asyncio.timeout(bounds.total) as deadline:
            async with _open_client(server) as client:
                until = deadline.when()
                assert until is not None
                return await _ask_with_retries(
                    _Call(client, bounds, question, meter, report, until)
                )
    except TimeoutError:
        raise ModelFailed(FailureCause.TOO_SLOW, f"{bounds.total:g} seconds") from None


async def count_tokens(server: Server, question: ModelQuestion) -> int:
    """Return the input tokens of `question` as the server counts them. Raises ModelFailed."""
    from ricordo.llm.client import translate_errors

    request = build_request(question, RequestOptions(is_short=False))
    del request["max_tokens"]
    try:
        async with asyncio.timeout(server.limits.read), _open_client(server) as client:
            with translate_errors(server.limits):
                counted = await client.messages.count_tokens(**request)
                tokens = getattr(counted, "input_tokens", None)
    except TimeoutError:
        raise ModelFailed(FailureCause.SILENT, f"{server.limits.read:g} seconds") from None
    if type(tokens) is not int or tokens < 0:
        raise ModelFailed(FailureCause.NO_ANSWER, "The server does not count tokens.")
    return tokens


@dataclass(slots=True)
class _Call:
    client: AsyncAnthropic
    bounds: RequestLimits
    question: ModelQuestion
    meter: Meter
    tell: Callable[[AnswerProgress], None]
    until: float
    """Deadline of the answer, by the clock of the loop."""
    wanted: RequestOptions = field(default_factory=RequestOptions)


@asynccontextmanager
async def _open_client(server: Server) -> AsyncIterator[AsyncAnthropic]:
    from ricordo.llm.client import open_client

    client = open_client(server.base_url, server.limits)
    try:
        yield client
    finally:
        await client.close()


async def _ask_with_retries(call: _Call) -> ModelAnswer:
    failures = 0
    while True:
        try:
            return await _try(call)
        except ModelFailed as failed:
            is_bad_request = failed.cause is FailureCause.BAD_REQUEST
            if is_bad_request and (fewer := call.wanted.drop_rejected(failed.message)):
                call.wanted = fewer
                continue
            failures += 1
            pause = _find_pause(failed, failures, call.bounds)
            if pause is None or asyncio.get_running_loop().time() + pause >= call.until:
                raise _add_wait(failed) from None
        await _pause_before_retry(pause, call.tell)


def _find_pause(failed: ModelFailed, number: int, bounds: RequestLimits) -> float | None:
    """Return the seconds to wait before the next try; None for no retry."""
    if failed.cause not in _RETRIED or number >= bounds.max_tries:
        return None
    if failed.wait is not None:
        return failed.wait if failed.wait <= bounds.max_pause else None
    longest: float = bounds.pause * 4 ** (number - 1)
    return random.uniform(longest / 2, longest)


def _add_wait(failed: ModelFailed) -> ModelFailed:
    if failed.wait is None or failed.wait < 1:
        return failed
    detail = f"It answers again in {_describe_wait(failed.wait)}. {failed.detail}"
    return ModelFailed(failed.cause, detail, wait=failed.wait)


def _describe_wait(seconds: float) -> str:
    """Return the length of a wait in words."""
    if seconds > _DAY:
        return "more than a day"
    if seconds > 2 * _HOUR:
        return f"{seconds / _HOUR:.0f} hours"
    if seconds > 2 * _MINUTE:
        return f"{seconds / _MINUTE:.0f} minutes"
    return f"{seconds:.0f} seconds"


async def _pause_before_retry(pause: float, tell: Callable[[AnswerProgress], None]) -> None:
    """Wait, and report the countdown."""
    until = time.monotonic() + pause
    remaining = pause
    while remaining > 0:
        tell(AnswerProgress(Phase.PAUSING, seconds=remaining))
        await asyncio.sleep(min(remaining, 1.0))
        remaining = until - time.monotonic()


async def _try(call: _Call) -> ModelAnswer:
    from anthropic import AsyncStream

    from ricordo.llm.client import translate_errors
    from ricordo.llm.reply import StreamedReply

    call.meter.next_try()
    call.meter.is_sent = True
    reply = StreamedReply(call.question.tool, call.meter)
    reporter = _ProgressReporter(call.tell, reply)
    request = build_request(call.question, call.wanted)
    try:
        with translate_errors(call.bounds):
            streaming = call.client.messages.with_streaming_response.create(**request, stream=True)
            async with streaming as response:
                async for event in AsyncStream.raw_events(response.http_response):
                    if not event.data:
                        continue
                    reply.feed(event.data)
                    if reply.is_over:
                        break
                    reporter.report()
    finally:
        reporter.end()
        if not reply.is_over:  # the server has not counted the output
            call.meter.running = replace(call.meter.running, output_tokens=reply.tokens)
    return reply.read_answer()


class _ProgressReporter:
    """Reports the progress of a reply at intervals, and its last state when nothing more comes."""

    def __init__(self, report: Callable[[AnswerProgress], None], reply: StreamedReply) -> None:
        self._report = report
        self._reply = reply
        self._started = time.monotonic()
        self._reported = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    def report(self) -> None:
        """Report the progress now, or once the interval is over."""
        pause = self._reported + _REPORT_INTERVAL - time.monotonic()
        if pause <= 0:
            self._report_now()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(pause, self._report_now)

    def _report_now(self) -> None:
        self.end()
        self._reported = time.monotonic()
        reply, seconds = self._reply, self._reported - self._started
        self._report(AnswerProgress(reply.phase, reply.tokens, seconds, reply.tail))

    def end(self) -> None:
        """Cancel a scheduled report."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
