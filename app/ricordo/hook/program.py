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
LONGEST_ANSWER = 1024 * 1024
"""Bytes."""
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
            signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGALRM,))
            signal.alarm(PATIENCE)
            document = _read(0, LONGEST_INPUT)
            if document:
                _write(1, _answer_in_child(document, state, debug="--debug" in words))
    except BaseException:  # whatever it is: nobody would be helped by an agent that stops
        if "--debug" in words:
            _print_traceback()


def _answer_in_child(document: bytes, state: str, *, debug: bool) -> bytes:
    """Return the answer to `document`, as a child process gives it; nothing where it does not.

    Code in C may block without ever letting a handler of ours run. The kernel ends the child
    whatever it does; we only wait, which a signal interrupts.
    """
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(PATIENCE)
            _leave_standard_streams(keep_errors=debug)
            _write(sending, _answer(document, state))
        except BaseException:
            if debug:
                _print_traceback()
            os._exit(1)
        os._exit(0)
    os.close(sending)
    text = _read(receiving, LONGEST_ANSWER)
    _, status = os.waitpid(child, 0)
    return b"" if status else text


def _leave_standard_streams(*, keep_errors: bool) -> None:
    """Hold none of the agent's pipes open: it may read them to their end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1) if keep_errors else (0, 1, 2):
        os.dup2(nowhere, stream)


def _answer(document: bytes, state: str) -> bytes:
    from ricordo.hook.prompt import answer_prompt
    from ricordo.resources import state_directory

    return answer_prompt(document, state_directory(os.environ, state))


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


def _read(handle: int, limit: int) -> bytes:
    """Everything that comes from `handle`, to its end, so that the writer is not left with a broken
    pipe; nothing where it is longer than `limit`.
    """
    pieces, length = [], 0
    while piece := os.read(handle, _PIECE):
        length += len(piece)
        if length <= limit:
            pieces.append(piece)
    return b"".join(pieces) if length <= limit else b""


def _write(handle: int, text: bytes) -> None:
    while text:
        text = text[os.write(handle, text) :]


def _print_traceback() -> None:
    import traceback

    traceback.print_exc()


def _warn(message: str) -> None:
    """Write a line to stderr, which agents do not read."""
    os.write(2, f"ricordo: {message}\n".encode())


def _give_up(number: int, frame: FrameType | None) -> None:
    os._exit(0)
