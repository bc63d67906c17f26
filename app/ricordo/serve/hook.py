"""`ricordo hook EVENT`: what agents call at every message. Its own small program.

It reads one JSON document and writes one, or nothing; it ends with 0 whatever happens, for an
agent must never be held up by its notes. Standard library alone, and no more of it than it needs.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

PROMPT = "prompt"
"""The one event that is answered."""
LONGEST_INPUT = 1024 * 1024
"""Bytes; of a longer document nothing is answered."""
PATIENCE = 2
"""Seconds after which it ends, wherever it is."""
_PIECE = 1 << 16


def answer(words: list[str]) -> None:
    """Answer the event that `words` name from what stands on standard input."""
    try:
        event, state = _understood(words)
        if event != PROMPT:
            unknown = f"Unknown event {event!a}" if event else "No event is named"
            _warn(f"{unknown}: the hook answers only {PROMPT}.")
        elif os.environ.get("RICORDO_CURATING") != "1":
            signal.signal(signal.SIGALRM, _give_up)
            signal.alarm(PATIENCE)
            _write(_answer(_read(), _state(state)))
    except BaseException:  # whatever it is: nobody would be helped by an agent that stops
        if "--debug" in words:
            import traceback

            traceback.print_exc()


def _answer(document: bytes, state: str) -> bytes:
    if not document:
        return b""
    from ricordo.serve.hook_prompt import answer_prompt

    return answer_prompt(document, state)


def _understood(words: list[str]) -> tuple[str, str]:
    """The event and the state directory that `words` name, in whatever order."""
    event = state = ""
    waiting = iter(words)
    for word in waiting:
        if word == "--state":
            state = next(waiting)
        elif word.startswith("--state="):
            state = word.removeprefix("--state=")
        elif not word.startswith("-"):
            event = event or word
    return event, state


def _state(given: str) -> str:
    from ricordo.notebook.homes import state_directory

    return state_directory(os.environ, given)


def _read() -> bytes:
    """Everything on standard input, to its end, so that the writer is not left with a broken pipe;
    nothing where it is too long.
    """
    pieces, length = [], 0
    while piece := os.read(0, _PIECE):
        length += len(piece)
        if length <= LONGEST_INPUT:
            pieces.append(piece)
    return b"".join(pieces) if length <= LONGEST_INPUT else b""


def _write(text: bytes) -> None:
    while text:
        text = text[os.write(1, text) :]


def _warn(message: str) -> None:
    """Write a line to stderr, which agents do not read."""
    os.write(2, f"ricordo: {message}\n".encode())


def _give_up(number: int, frame: FrameType | None) -> None:
    os._exit(0)
