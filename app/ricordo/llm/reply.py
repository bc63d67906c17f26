"""Read a streamed reply event by event, and accept it only when it is complete.

A reply that was cut off can look complete when its pieces are joined. So nothing is parsed before
the last event, and every event has to be one that may come next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ricordo.llm.failure import FailureCause, ModelFailed, classify_rejection
from ricordo.llm.question import BYTES_PER_TOKEN, FormTool, Meter, ModelAnswer, Phase, TokenUsage
from ricordo.llm.schema import SchemaError, check, parse

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
"""Error types inside a stream; any other is a server error."""
_TAIL = 2_000
"""Characters of the output that are shown meanwhile."""
_CUT_SHORT = ("max_tokens", "model_context_window_exceeded")
_COUNTS = {
    "input_tokens": "input_tokens",
    "cache_written": "cache_creation_input_tokens",
    "cache_read": "cache_read_input_tokens",
    "output_tokens": "output_tokens",
}
"""Fields of `TokenUsage`, each with its name in the API."""


@dataclass(slots=True)
class _ReplyBlock:
    kind: str
    name: str
    input: object
    """The input in the first event, where some servers send it whole."""
    pieces: list[str] = field(default_factory=list)
    is_open: bool = True


class StreamedReply:
    """A reply while it is received."""

    def __init__(self, tool: FormTool, meter: Meter) -> None:
        self._tool = tool
        self._meter = meter
        self._blocks: list[_ReplyBlock] = []
        self._model: str | None = None
        self._stop_reason = ""
        self.is_over = False
        """Whether the last event of the reply has come."""
        self.phase = Phase.READING
        self.tail = ""
        """The end of the output so far, unchecked."""
        self._bytes = 0

    @property
    def tokens(self) -> int:
        """Estimated output tokens so far."""
        return max(self._bytes // BYTES_PER_TOKEN, self._meter.running.output_tokens)

    def feed(self, data: str) -> None:
        """Process the data of the next event. Raises ModelFailed."""
        try:
            event = parse(data)
            kind = event["type"]
            if kind in _HANDLERS:
                _HANDLERS[kind](self, event)
        except (SchemaError, KeyError, TypeError, AttributeError):
            raise ModelFailed(FailureCause.NO_ANSWER, "An event does not match the API.") from None

    def read_answer(self) -> ModelAnswer:
        """Return the answer. Raises ModelFailed unless the reply is complete and valid."""
        if self._model is None:
            raise ModelFailed(FailureCause.NO_ANSWER, "The reply is not a stream of events.")
        if not self.is_over:
            raise ModelFailed(FailureCause.INTERRUPTED)
        if self._stop_reason in _CUT_SHORT:
            raise ModelFailed(FailureCause.TRUNCATED, self._stop_reason)
        if self._stop_reason == "refusal":
            raise ModelFailed(FailureCause.REFUSED)
        uses = [block for block in self._blocks if block.kind == "tool_use"]
        if self._stop_reason != "tool_use" or not uses:
            raise ModelFailed(FailureCause.NO_TOOL)
        return ModelAnswer(self._read_value(uses), self._model, self._meter.usage)

    def _read_value(self, uses: list[_ReplyBlock]) -> Mapping[str, object]:
        try:
            if len(uses) > 1:
                raise SchemaError("it uses the tool more than once")
            (use,) = uses
            if use.name != self._tool.name:
                raise SchemaError("it uses another tool")
            if any(block.is_open for block in self._blocks):
                raise SchemaError("a block of it has no end")
            value = parse("".join(use.pieces)) if use.pieces else use.input
            check(value, self._tool.schema)
        except SchemaError as error:
            raise ModelFailed(FailureCause.MALFORMED, str(error)) from None
        assert isinstance(value, dict)
        return value

    def _handle_start(self, event: dict[str, Any]) -> None:
        message = event["message"]
        if self._model is not None or message["type"] != "message":
            raise SchemaError
        self._model = _get_text(message, "model")
        self._update_usage(message.get("usage"))

    def _handle_block_start(self, event: dict[str, Any]) -> None:
        block = event["content_block"]
        is_next = self._model is not None and event["index"] == len(self._blocks)
        if not is_next or self._is_writing or self.is_over:
            raise SchemaError
        kind = _get_text(block, "type")
        self._blocks.append(_ReplyBlock(kind, _get_text(block, "name"), block.get("input")))
        self.phase = Phase.THINKING if "thinking" in kind else Phase.WRITING

    def _handle_delta(self, event: dict[str, Any]) -> None:
        if not self._is_writing or event["index"] != len(self._blocks) - 1:
            raise SchemaError
        delta = event["delta"]
        for name in ("partial_json", "text", "thinking"):
            piece = _get_text(delta, name)
            self._bytes += len(piece)
            self.tail = (self.tail + piece)[-_TAIL:]
        if delta["type"] == "input_json_delta":
            self._blocks[-1].pieces.append(_get_text(delta, "partial_json"))

    def _handle_block_stop(self, event: dict[str, Any]) -> None:
        if not self._is_writing or event["index"] != len(self._blocks) - 1:
            raise SchemaError
        self._blocks[-1].is_open = False

    def _handle_message_delta(self, event: dict[str, Any]) -> None:
        if self._model is None:
            raise SchemaError
        delta = event["delta"]
        if delta.get("stop_reason") is not None:
            self._stop_reason = _get_text(delta, "stop_reason")
        self._update_usage(event.get("usage"))

    def _handle_stop(self, event: dict[str, Any]) -> None:
        if self._model is None:
            raise SchemaError
        self.is_over = True

    def _handle_error(self, event: dict[str, Any]) -> None:
        error = event["error"]
        cause = _ERRORS.get(error["type"], FailureCause.SERVER)
        message = str(error.get("message", ""))
        cause = classify_rejection(message) if cause is FailureCause.BAD_REQUEST else cause
        raise ModelFailed(cause, message)

    @property
    def _is_writing(self) -> bool:
        return bool(self._blocks) and self._blocks[-1].is_open

    def _update_usage(self, usage: object) -> None:
        """Update the usage by the server's counts; those that it omits stay as they were."""
        if not isinstance(usage, dict):
            return
        before = self._meter.running
        counts = {
            field: _parse_count(usage.get(name), getattr(before, field))
            for field, name in _COUNTS.items()
        }
        self._meter.running = TokenUsage(**counts)


def _get_text(fields: Mapping[str, object], name: str) -> str:
    """Return a text field, "" where it is missing. Raises SchemaError."""
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise SchemaError
    return value


def _parse_count(value: object, before: int) -> int:
    return value if type(value) is int and 0 <= value < 1 << 40 else before


_HANDLERS: Mapping[str, Callable[[StreamedReply, dict[str, Any]], None]] = {
    "message_start": StreamedReply._handle_start,
    "content_block_start": StreamedReply._handle_block_start,
    "content_block_delta": StreamedReply._handle_delta,
    "content_block_stop": StreamedReply._handle_block_stop,
    "message_delta": StreamedReply._handle_message_delta,
    "message_stop": StreamedReply._handle_stop,
    "error": StreamedReply._handle_error,
}
"""The handler of each event type; others are ignored, as the API documentation demands."""
