"""A server on this machine that speaks the Messages API over HTTP, as well or as badly as a test
wants, and keeps every byte that it was sent.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ricordo.llm.ask import Server, ask
from ricordo.llm.failure import ModelFailed
from ricordo.llm.question import FormTool, Meter, ModelQuestion
from ricordo.llm.redaction import Sealed

_RESET = struct.pack("ii", 1, 0)
"""A socket that lingers for no time is reset when it is closed."""


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    """By their names in small letters."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    """What a reply is written to, byte by byte if need be."""

    def __init__(self, handler: BaseHTTPRequestHandler, closing: threading.Event) -> None:
        self._handler = handler
        self._closing = closing

    def begin(self, status: int, headers: dict[str, str]) -> None:
        """Send a status and headers; what follows is chunked."""
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name, value)
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()

    def send(self, content: bytes) -> None:
        """Send a chunk."""
        if content:
            self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
            self._handler.wfile.flush()

    def end(self) -> None:
        """End the body as it should end."""
        self._handler.wfile.write(b"0\r\n\r\n")

    def whole(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """Send a whole reply."""
        self.begin(status, headers)
        self.send(body)
        self.end()

    def raw(self, content: bytes) -> None:
        """Send bytes as they are, and nothing more."""
        self._handler.wfile.write(content)
        self._handler.wfile.flush()
        self._handler.close_connection = True

    def cut(self) -> None:
        """Reset the connection."""
        self._handler.wfile.flush()
        self._handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._handler.connection.close()
        self._handler.close_connection = True

    def drop(self) -> None:
        """Close the connection in the middle of the body."""
        self._handler.close_connection = True

    def stall(self) -> None:
        """Say nothing more for as long as the server is there."""
        self._closing.wait()

    def is_open(self, pause: float) -> bool:
        """Say, after a pause of seconds, whether the server is still there."""
        return not self._closing.wait(pause)


Script = Callable[[Wire, Asked], None]
"""How a request is answered."""


@dataclass
class MessagesServer:
    """The server: what it answers, and what it was asked."""

    url: str = ""
    scripts: list[Script] = field(default_factory=list)
    """How the next requests are answered, each by its own; the last one answers all others."""
    asked: list[Asked] = field(default_factory=list)

    @property
    def received(self) -> bytes:
        """Everything that came in."""
        heads = (f"{it.method} {it.path} {it.headers}".encode() for it in self.asked)
        return b"\n".join((*heads, *(it.body for it in self.asked)))

    def next_script(self) -> Script:
        return self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]


def without_credentials(monkeypatch: pytest.MonkeyPatch, empty: Path) -> None:
    """Let the client find neither a key nor a way round, nor the certificates of the machine: to
    read those takes longer than all the rest of a test. `empty` is an empty directory.
    """
    for name in (*_NAMES, *(name.lower() for name in _NAMES)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(empty))
    load_client()


@cache
def load_client() -> None:
    """Load the client, so that no test counts the seconds that this takes. It is asked in a thread:
    in this one a loop may be running.
    """
    question = ModelQuestion("", "", Sealed(""), Sealed(""), FormTool("", "", {}))

    def load(url: str) -> None:
        with suppress(ModelFailed):
            asyncio.run(ask(Server(url), question, Meter()))

    with messages_server(lambda wire, _: wire.whole(400, {}, b"")) as server:
        thread = threading.Thread(target=load, args=(server.url,))
        thread.start()
        thread.join()


_NAMES = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_PROFILE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
)


@contextmanager
def messages_server(*scripts: Script) -> Iterator[MessagesServer]:
    """Run a server that answers by the `scripts`, one request each."""
    server = MessagesServer(scripts=list(scripts))
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked("POST", self.path, headers, self.rfile.read(length))
            server.asked.append(asked)
            with suppress(OSError):  # whoever asked has gone
                server.next_script()(Wire(self, closing), asked)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

        def finish(self) -> None:
            with suppress(OSError, ValueError):
                super().finish()

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    http.handle_error = lambda *_: None  # type: ignore[method-assign]
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        closing.set()
        http.shutdown()
        http.server_close()
        thread.join()
