"""Reading a streamed reply: event by event, and accepted only when it came whole.

A reply that was cut off looks whole to whoever puts its pieces together as they come. So nothing
is parsed before the last event, and every step has to be the one that may come next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ricordo.llm.failure import FailureCause, ModelFailed, turned_down
from ricordo.llm.question import BYTES_A_TOKEN, FormTool, Meter, ModelAnswer, Phase, TokenUsage
from ricordo.llm.schema import Misshapen, check, parse

_ERRORS = {
    "authentication_error": FailureCause.WRONG_KEY,
    "permission_error": FailureCause.FORBIDDEN,
    "not_found_error": FailureCause.NOT_FOUND,
    "request_too_large": FailureCause.TOO_LARGE,
    "invalid_request_error": FailureCause.BAD_REQUEST,
    "rate_limit_error": FailureCause.RATE_LIMIT,
    "overloaded_error": FailureCause.OVERLOADED,
    "timeout_error": FailureCause.SILENT,
}
"""Kinds of errors inside a stream; any other is the server's own fault."""
_KEPT = 2_000
"""Characters of what is being written that are shown meanwhile."""
_CUT_SHORT = ("max_tokens", "model_context_window_exceeded")
_COUNTS = {
    "input_tokens": "input_tokens",
    "cache_written": "cache_creation_input_tokens",
    "cache_read": "cache_read_input_tokens",
    "output_tokens": "output_tokens",
}
"""Our names of what is counted, each with its name in the API."""


@dataclass(slots=True)
class _ReplyBlock:
    kind: str
    name: str
    given: object
    """The input that stands in the first event already, as some servers send it."""
    pieces: list[str] = field(default_factory=list)
    is_open: bool = True


class StreamedReply:
    """A reply on its way in."""

    def __init__(self, tool: FormTool, meter: Meter) -> None:
        self._tool = tool
        self._meter = meter
        self._blocks: list[_ReplyBlock] = []
        self._model: str | None = None
        self._stop_reason = ""
        self.is_over = False
        """Whether the event came with which a reply ends."""
        self.phase = Phase.READING
        self.tail = ""
        """The end of what was written so far, as it came."""
        self._bytes = 0

    @property
    def tokens(self) -> int:
        """About how many tokens were written so far."""
        return max(self._bytes // BYTES_A_TOKEN, self._meter.running.output_tokens)

    def take(self, data: str) -> None:
        """Take in the data of the next event. Raises ModelFailed."""
        try:
            event = parse(data)
            kind = event["type"]
            if kind in _TAKERS:
                _TAKERS[kind](self, event)
        except (Misshapen, KeyError, TypeError, AttributeError):
            raise ModelFailed(
                FailureCause.NO_ANSWER, "An event is not as the API has it."
            ) from None

    def answer(self) -> ModelAnswer:
        """Return the answer that came. Raises ModelFailed unless all of it did."""
        if self._model is None:
            raise ModelFailed(FailureCause.NO_ANSWER, "No answer was streamed.")
        if not self.is_over:
            raise ModelFailed(FailureCause.CUT)
        if self._stop_reason in _CUT_SHORT:
            raise ModelFailed(FailureCause.UNFINISHED, self._stop_reason)
        if self._stop_reason == "refusal":
            raise ModelFailed(FailureCause.REFUSED)
        uses = [block for block in self._blocks if block.kind == "tool_use"]
        if self._stop_reason != "tool_use" or not uses:
            raise ModelFailed(FailureCause.NO_TOOL)
        return ModelAnswer(self._value(uses), self._model, self._meter.usage)

    def _value(self, uses: list[_ReplyBlock]) -> Mapping[str, object]:
        try:
            if len(uses) > 1:
                raise Misshapen("the tool is used more than once")
            (use,) = uses
            if use.name != self._tool.name:
                raise Misshapen("another tool is used")
            if any(block.is_open for block in self._blocks):
                raise Misshapen("a part of it was not ended")
            value = parse("".join(use.pieces)) if use.pieces else use.given
            check(value, self._tool.schema)
        except Misshapen as error:
            raise ModelFailed(FailureCause.MISSHAPEN, str(error)) from None
        assert isinstance(value, dict)
        return value

    def _started(self, event: dict[str, Any]) -> None:
        message = event["message"]
        if self._model is not None or message["type"] != "message":
            raise Misshapen
        self._model = _text(message, "model")
        self._count(message.get("usage"))

    def _opened(self, event: dict[str, Any]) -> None:
        block = event["content_block"]
        is_next = self._model is not None and event["index"] == len(self._blocks)
        if not is_next or self._is_writing or self.is_over:
            raise Misshapen
        kind = _text(block, "type")
        self._blocks.append(_ReplyBlock(kind, _text(block, "name"), block.get("input")))
        self.phase = Phase.THINKING if "thinking" in kind else Phase.WRITING

    def _added(self, event: dict[str, Any]) -> None:
        if not self._is_writing or event["index"] != len(self._blocks) - 1:
            raise Misshapen
        delta = event["delta"]
        for name in ("partial_json", "text", "thinking"):
            piece = _text(delta, name)
            self._bytes += len(piece)
            self.tail = (self.tail + piece)[-_KEPT:]
        if delta["type"] == "input_json_delta":
            self._blocks[-1].pieces.append(_text(delta, "partial_json"))

    def _closed(self, event: dict[str, Any]) -> None:
        if not self._is_writing or event["index"] != len(self._blocks) - 1:
            raise Misshapen
        self._blocks[-1].is_open = False

    def _ending(self, event: dict[str, Any]) -> None:
        if self._model is None:
            raise Misshapen
        delta = event["delta"]
        if delta.get("stop_reason") is not None:
            self._stop_reason = _text(delta, "stop_reason")
        self._count(event.get("usage"))

    def _stopped(self, event: dict[str, Any]) -> None:
        if self._model is None:
            raise Misshapen
        self.is_over = True

    def _failed(self, event: dict[str, Any]) -> None:
        error = event["error"]
        cause, said = _ERRORS.get(error["type"], FailureCause.SERVER), str(error.get("message", ""))
        raise ModelFailed(turned_down(said) if cause is FailureCause.BAD_REQUEST else cause, said)

    @property
    def _is_writing(self) -> bool:
        return bool(self._blocks) and self._blocks[-1].is_open

    def _count(self, usage: object) -> None:
        """Take what a server has counted until now; what it leaves out stays as it was."""
        if not isinstance(usage, dict):
            return
        before = self._meter.running
        counts = {
            ours: _count_of(usage.get(theirs), getattr(before, ours))
            for ours, theirs in _COUNTS.items()
        }
        self._meter.running = TokenUsage(**counts)


def _text(told: Mapping[str, object], name: str) -> str:
    """Return a field that is a text, or is not there. Raises Misshapen."""
    value = told.get(name, "")
    if not isinstance(value, str):
        raise Misshapen
    return value


def _count_of(value: object, before: int) -> int:
    return value if type(value) is int and 0 <= value < 1 << 40 else before


_TAKERS: Mapping[str, Callable[[StreamedReply, dict[str, Any]], None]] = {
    "message_start": StreamedReply._started,
    "content_block_start": StreamedReply._opened,
    "content_block_delta": StreamedReply._added,
    "content_block_stop": StreamedReply._closed,
    "message_delta": StreamedReply._ending,
    "message_stop": StreamedReply._stopped,
    "error": StreamedReply._failed,
}
"""What is done with each kind of event; others are passed over, as the API asks for."""
