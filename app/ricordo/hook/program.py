"""`ricordo hook EVENT`, which agents call while they work: a small program of its own.

It reads one JSON document and writes one, or nothing. It always exits with 0: an agent must never
be blocked by its notes. It imports only the standard library, and as little of it as possible.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    Options = dict[str, str]

EVENTS = ("start", "prompt", "wrote", "compact", "stop", "end")
"""The events that are answered."""
LONGEST_INPUT = 1024 * 1024
"""Bytes; a longer document gets no answer."""
LONGEST_ANSWER = 1024 * 1024
"""Bytes."""
TIMEOUT = 2
"""Seconds after which the program exits, whatever it is doing."""
_PIECE = 1 << 16


def answer(words: list[str]) -> None:
    """Answer the event in the arguments `words` with the document on standard input."""
    try:
        event, options = _parse(words)
        if event not in EVENTS:
            unknown = f"Unknown event {event!a}" if event else "No event given"
            _warn(f"{unknown}: the hook answers {', '.join(EVENTS)}.")
        elif os.environ.get("RICORDO_CURATING") != "1":
            signal.signal(signal.SIGALRM, _give_up)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGALRM,))
            signal.alarm(TIMEOUT)
            document = _read(0, LONGEST_INPUT)
            if document:
                _write(1, _answer_in_child(event, document, options, debug="--debug" in words))
    except BaseException:  # no error may stop the agent
        if "--debug" in words:
            _print_traceback()


def _answer_in_child(event: str, document: bytes, options: Options, *, debug: bool) -> bytes:
    """Return the answer to an event with this `document` from a child process; b"" if it fails.

    C code may block without letting a Python signal handler run. The kernel ends the child
    whatever it does; this process only waits, which a signal interrupts.
    """
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(TIMEOUT)
            _leave_standard_streams(keep_errors=debug)
            _write(sending, _answer(event, document, options))
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
    """Close the agent's pipes in this process: the agent may read them to their end."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1) if keep_errors else (0, 1, 2):
        os.dup2(null, stream)


def _answer(event: str, document: bytes, options: Options) -> bytes:
    from ricordo.resources import state_directory

    state = state_directory(os.environ, options["--state"])
    return _load(event)(document, state, options["--agent"])


def _load(event: str) -> Callable[[bytes, str, str], bytes]:
    """Return the function that answers an event; only its module is imported."""
    if event == "prompt":
        from ricordo.hook import prompt

        return prompt.answer_prompt
    if event == "start":
        from ricordo.hook.start import answer_start

        return answer_start
    from ricordo.hook import session_events

    return {
        "wrote": session_events.answer_written,
        "compact": session_events.answer_compacted,
        "stop": session_events.answer_stop,
        "end": session_events.answer_end,
    }[event]


def _parse(words: list[str]) -> tuple[str, Options]:
    """Return the event that `words` name, "" for none, and their options, in any order."""
    event, options = "", {"--state": "", "--agent": ""}
    remaining = iter(words)
    for word in remaining:
        name, equals, value = word.partition("=")
        if name in options:
            options[name] = value if equals else next(remaining)
        elif not word.startswith("-"):
            event = event or word
    return event, options


def _read(handle: int, limit: int) -> bytes:
    """Return everything from `handle`, b"" if it is longer than `limit`. It is read to its end in
    any case, so that the writer gets no broken pipe.
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
    """Print a line on stderr, which agents do not read."""
    os.write(2, f"ricordo: {message}\n".encode())


def _give_up(number: int, frame: FrameType | None) -> None:
    os._exit(0)
