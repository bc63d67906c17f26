"""Asking a model on the screen: frames while a reply streams, and leaving while it does."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.stage import Stage, latest_frame
from tests.benchmarks.terminal import Terminal
from tests.support import messages_replies as replies
from tests.support.messages_server import Asked, MessagesServer, Wire, messages_server

_PAUSE = 0.002
"""Seconds between two events: faster than any model writes."""
_STREAMED = 5.0
"""Seconds for which it is looked at the frames."""


@dataclass(frozen=True)
class Asking:
    """What it is like to ask, in seconds."""

    loading: float
    """By how much a frame came too late at most, from the choice of the model to its first word."""
    streaming: float
    """The same while the reply streams."""
    leaving: float
    """From the key to the end of the process, while the server is silent."""
    leaving_unasked: float
    """The same where no model was ever asked."""


def asking(stage: Stage) -> Asking:
    """Ask a server that writes without an end, then one that says nothing more."""
    log = stage.home / "asking"
    with messages_server(_endless) as server, _opened(stage, server, log) as terminal:
        chosen = time.perf_counter()
        _start(terminal)
        began = terminal.wait_for("model writing")
        terminal.settle(quiet=_STREAMED, seconds=_STREAMED)
        ended = time.perf_counter()
        terminal.send("\x1b")
        terminal.wait_for("Cancelled")
        loading = latest_frame(log, chosen, began)
        streaming = latest_frame(log, began, ended)
    with messages_server(_silent) as server, _opened(stage, server, log) as terminal:
        _start(terminal)
        terminal.wait_for("model reading")
        leaving = _leave(terminal)
    with stage.notebook() as terminal:
        terminal.wait_for("● watching", "● polling")
        terminal.settle(quiet=1.0)
        return Asking(loading, streaming, leaving, _leave(terminal))


@contextmanager
def _opened(stage: Stage, server: MessagesServer, log: Path) -> Iterator[Terminal]:
    """Open the curate screen in a notebook that may ask the server."""
    environ = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "sk-none"}
    with stage.notebook(log, more=environ) as terminal:
        terminal.wait_for("● watching", "● polling")
        terminal.settle(quiet=1.0)
        terminal.send("c")
        terminal.wait_for("messages of yours")
        terminal.settle()
        yield terminal


def _start(terminal: Terminal) -> None:
    """Choose the model, and ask it."""
    terminal.send("\x1b[C")
    terminal.wait_for("in 24 hours")
    terminal.settle()
    terminal.send("\r")


def _leave(terminal: Terminal) -> float:
    began = time.perf_counter()
    terminal.send("\x11")
    return terminal.gone() - began


def _endless(wire: Wire, asked: Asked) -> None:
    wire.begin(200, replies.STREAM)
    opened, piece, *_ = replies.tool_block("The port of Lagos, ", piece=40)
    for event in (replies.start(), opened):
        wire.send(replies.encode_event(event))
    while wire.is_open(_PAUSE):
        wire.send(replies.encode_event(piece))


def _silent(wire: Wire, asked: Asked) -> None:
    wire.begin(200, replies.STREAM)
    wire.send(replies.encode_event(replies.start()))
    wire.stall()
