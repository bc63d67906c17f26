"""The transport: lines of JSON on standard input and output.

The SDK's own transport would end with a text that UTF-8 cannot encode, read a line of any length,
and leave a request unanswered whose line is no JSON-RPC message.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from ricordo.patterns import compile_lazily
from ricordo.text import make_encodable

LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of one message; a longer one is refused."""
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_ESCAPE = compile_lazily(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\."
)
"""An escape in JSON; of surrogates a pair is one."""
_PAIR = 12
"""Characters of a pair."""


class WireLines:
    """Messages as lines, for the SDK as both ends of its transport."""

    def __init__(self, received: io.BufferedIOBase, sent: io.BufferedIOBase) -> None:
        """Read from `received` and write to `sent`."""
        self._received = received
        self._sent = sent
        self._lock = anyio.Lock()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the messages; what is none is answered with an error."""
        while raw := await anyio.to_thread.run_sync(self._read_line, abandon_on_cancel=True):
            line = repair_surrogates(raw.decode("utf-8", "replace"))
            if not line.strip():
                continue
            if problem := find_problem(line, is_whole=len(raw) <= LONGEST_LINE):
                await self._send(json.dumps(problem))
            else:
                yield line

    def _read_line(self) -> bytes:
        """Return the next line, at most one byte more than the limit; b"" at the end."""
        line = rest = self._received.readline(LONGEST_LINE + 1)
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = self._received.readline(LONGEST_LINE + 1)
        return line

    async def write(self, text: str) -> None:
        """Send a message of the SDK."""
        await self._send(text.rstrip("\n"))

    async def flush(self) -> None:
        """Do nothing: every message is sent at once."""

    async def _send(self, message: str) -> None:
        async with self._lock:
            await anyio.to_thread.run_sync(self._write_line, message)

    def _write_line(self, message: str) -> None:
        self._sent.write(make_encodable(message).encode("utf-8") + b"\n")
        self._sent.flush()


def repair_surrogates(line: str) -> str:
    """Return a line of JSON with the escapes of lone surrogates replaced by U+FFFD: nothing can
    encode them again.
    """
    return _ESCAPE.sub(_repair, line) if "\\u" in line else line


def _repair(match: re.Match[str]) -> str:
    escape = match.group()
    is_lone = escape[1] == "u" and len(escape) < _PAIR
    return "\\ufffd" if is_lone else escape


def find_problem(line: str, *, is_whole: bool) -> dict[str, Any] | None:
    """Return the answer to a line that is no JSON-RPC message; None for one that is."""
    if not is_whole:
        limit = LONGEST_LINE // (1024 * 1024)
        return _make_error(None, _INVALID_REQUEST, f"Message too long, limit {limit} MB.")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _make_error(None, _PARSE_ERROR, "The line is not JSON.")
    fields = message if isinstance(message, dict) else {}
    id = fields.get("id")
    is_id = isinstance(id, str | int) and not isinstance(id, bool)
    is_call = isinstance(fields.get("method"), str) and (is_id or "id" not in fields)
    params = fields.get("params", {})
    is_answer = is_id and ("result" in fields or "error" in fields) and "method" not in fields
    is_message = fields.get("jsonrpc") == "2.0" and isinstance(params, dict)
    if is_message and (is_call or is_answer):
        return None
    return _make_error(id if is_id else None, _INVALID_REQUEST, "This is not a JSON-RPC request.")


def _make_error(id: object, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


@asynccontextmanager
async def open_wire() -> AsyncIterator[Any]:
    """Yield the two streams of the SDK over standard input and output. Whatever else this process
    prints goes to standard error.
    """
    received, sent = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    lines: Any = WireLines(
        os.fdopen(received, "rb", closefd=False), os.fdopen(sent, "wb", closefd=False)
    )
    try:
        async with stdio_server(stdin=lines, stdout=lines) as streams:
            yield streams
    finally:
        for handle, own in ((received, 0), (sent, 1)):
            os.dup2(handle, own)
            os.close(handle)
