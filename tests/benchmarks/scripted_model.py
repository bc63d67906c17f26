"""A model server on this machine: it makes the calls that a script says, and records what it is
asked. It speaks as much of the protocols of Anthropic, OpenAI and Google as agents need.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

_STREAM = "text/event-stream"


class Call(NamedTuple):
    """A call of a tool."""

    name: str
    arguments: Any
    """A text where the tool takes one and no JSON."""
    namespace: str = ""
    """That of a tool which Codex has found by a search."""


@dataclass
class ScriptedModel:
    """A model that makes `calls`, one in each request that offers tools, and then answers “ok”."""

    calls: list[Call] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def has(self, text: str) -> bool:
        """Return whether it was asked something with this text in it, as JSON has it."""
        return any(text in body for body in self.asked)

    def answer(self, path: str, body: str) -> tuple[str, bytes]:
        """Return kind and bytes of the answer to a request."""
        self.asked.append(body)
        offers_tools = '"tools":[{' in body.replace(" ", "")
        call = self.calls.pop(0) if self.calls and offers_tools else None
        number = str(len(self.asked))
        if path.endswith("/messages"):
            return _STREAM, _render_events(_answer_anthropic(call, number))
        if path.endswith("/responses"):
            return _STREAM, _render_events(_answer_responses(call, number))
        if path.endswith("/chat/completions"):
            return _STREAM, _render_lines(_answer_chat(call, number)) + b"data: [DONE]\n\n"
        generated = _answer_google(call)
        if "streamGenerateContent" in path:
            return _STREAM, _render_lines([generated])
        return "application/json", json.dumps(generated).encode()


@contextmanager
def serving(model: ScriptedModel) -> Iterator[str]:
    """Give the URL of a server that answers as `model` does."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self.send("application/json", b'{"data": [], "models": []}')

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send(*model.answer(self.path.split("?")[0], body.decode("utf-8", "replace")))

        def send(self, kind: str, data: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def _render_events(events: list[dict[str, Any]]) -> bytes:
    rows = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return "".join(rows).encode()


def _render_lines(chunks: list[dict[str, Any]]) -> bytes:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()


def _answer_anthropic(call: Call | None, number: str) -> list[dict[str, Any]]:
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": "ok"}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": call.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    reason = "tool_use" if call else "end_turn"
    return [
        {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]


def _answer_responses(call: Call | None, number: str) -> list[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "item": _make_item(call, number)},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    ]


def _make_item(call: Call | None, number: str) -> Mapping[str, Any]:
    if call is None:
        text = {"type": "output_text", "text": "ok"}
        return {"type": "message", "role": "assistant", "id": "m", "content": [text]}
    ids = {"id": f"f{number}", "call_id": f"c{number}"}
    if call.name == "tool_search":
        search = {"type": "tool_search_call", "execution": "client", "status": "completed"}
        return {**search, **ids, "arguments": call.arguments}
    if isinstance(call.arguments, str):
        return {"type": "custom_tool_call", **ids, "name": call.name, "input": call.arguments}
    space = {"namespace": call.namespace} if call.namespace else {}
    arguments = json.dumps(call.arguments)
    return {"type": "function_call", **ids, "name": call.name, "arguments": arguments, **space}


def _answer_chat(call: Call | None, number: str) -> list[dict[str, Any]]:
    delta: dict[str, Any] = {"role": "assistant", "content": "ok"}
    if call:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        calls = [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]
        delta = {"role": "assistant", "tool_calls": calls}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}
    return [
        {**chunk, "choices": [{"index": 0, "delta": delta}]},
        {**chunk, "choices": [end], "usage": usage},
    ]


def _answer_google(call: Call | None) -> dict[str, Any]:
    part: dict[str, Any] = {"text": "ok"}
    if call:
        part = {"functionCall": {"name": call.name, "args": call.arguments}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {
        "candidates": [{"content": content, "finishReason": "STOP"}],
        "usageMetadata": usage,
    }
