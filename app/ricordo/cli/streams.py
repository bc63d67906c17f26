"""The standard streams of the process: always there, and able to take any text."""

from __future__ import annotations

import codecs
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TextIO


def prepare_streams() -> None:
    """Replace streams that the caller closed, and have none fail over a character.

    Nothing can be read from a closed input. What is written to a closed output fails, as it would
    on a full device; messages on a closed stderr are lost.
    """
    # in this order, so that each gets the lowest number that is free: its own
    sys.stdin = sys.stdin or _open_null(os.O_RDONLY, "r")
    sys.stdout = sys.stdout or _open_null(os.O_RDONLY, "w")
    sys.stderr = sys.stderr or _open_null(os.O_WRONLY, "w")
    if has_encoding(sys.stdin, "ascii"):
        # a locale that knows no more; what is piped is UTF-8 all the same
        _reconfigure(sys.stdin, encoding="utf-8")
    _reconfigure(sys.stdin, errors="surrogateescape")
    _reconfigure(sys.stdout, errors="replace")


def can_show_screen() -> bool:
    """Say whether the notebook can be shown: Textual reads from stdin and draws on stderr, and a
    terminal that calls itself dumb shows lines alone.
    """
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(it.isatty() for it in streams) and not is_dumb_terminal()


def is_dumb_terminal() -> bool:
    """Say whether the terminal can neither move its cursor nor write over a line."""
    return os.environ.get("TERM") in ("dumb", "unknown")


def discard(stream: TextIO) -> None:
    """Let go of what `stream` still holds, so that the process does not fail over it at its end."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, stream.fileno())
    except (OSError, ValueError):
        # it has no number: a stream of the caller, who sees to it
        pass
    finally:
        os.close(null)


def _open_null(flags: int, mode: Literal["r", "w"]) -> TextIO:
    return os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8")


def has_encoding(stream: TextIO, name: str) -> bool:
    """Say whether `stream` encodes its text in the encoding of that standard name."""
    return codecs.lookup(stream.encoding or "utf-8").name == name


def _reconfigure(stream: TextIO, **how: str) -> None:
    stream.reconfigure(**how)  # type: ignore[attr-defined]


def restart_in_utf8_mode() -> None:
    """Start this program again in UTF-8 mode, in the place of this process: notes link to one
    another by names in UTF-8, and Python reads file names in the locale's encoding for as long as
    it runs. What is printed stays in the locale's encoding. Nothing is done where that is not to
    be, or cannot be.
    """
    if sys.flags.utf8_mode or "utf8" in sys._xoptions or not sys.executable:
        return
    environ = dict(os.environ)
    if sys.stdout is not None:
        environ.setdefault("PYTHONIOENCODING", sys.stdout.encoding)
    try:
        os.execve(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]], environ)
    except OSError:
        return


def write_out(text: str) -> None:
    """Write `text` to stdout, to its end. Here, as a quick answer imports next to nothing. Raises
    Unprintable.
    """
    if not text:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        from ricordo.errors import Unprintable

        raise Unprintable(error) from None
