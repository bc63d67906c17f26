"""The standard streams of the process: always open, and able to encode any text."""

from __future__ import annotations

import codecs
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Literal, TextIO

_while_writing: AbstractContextManager[None] | None = None


def prepare_streams() -> None:
    """Replace streams that the caller closed, and make none fail on a character.

    A closed stdin is empty. Writing to a closed stdout fails as on a full device; messages on a
    closed stderr are lost.
    """
    # in this order, so that each gets its own number, which is the lowest free one
    sys.stdin = sys.stdin or _open_null(os.O_RDONLY, "r")
    sys.stdout = sys.stdout or _open_null(os.O_RDONLY, "w")
    sys.stderr = sys.stderr or _open_null(os.O_WRONLY, "w")
    if has_encoding(sys.stdin, "ascii"):
        # an ASCII locale; piped input is UTF-8 anyway
        _reconfigure(sys.stdin, encoding="utf-8")
    _reconfigure(sys.stdin, errors="surrogateescape")
    _reconfigure(sys.stdout, errors="replace")


def can_show_screen() -> bool:
    """Return whether the notebook can be shown: all streams are terminals, as Textual reads stdin
    and draws on stderr, and the terminal is not dumb.
    """
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream.isatty() for stream in streams) and not is_dumb_terminal()


def is_dumb_terminal() -> bool:
    """Return whether the terminal can neither move its cursor nor overwrite a line."""
    return os.environ.get("TERM") in ("dumb", "unknown")


def discard(stream: TextIO) -> None:
    """Discard what `stream` still buffers, so that flushing it at exit does not fail."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, stream.fileno())
    except (OSError, ValueError):
        # no file descriptor: a stream that the caller replaced and handles
        pass
    finally:
        os.close(null)


def _open_null(flags: int, mode: Literal["r", "w"]) -> TextIO:
    return os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8")


def has_encoding(stream: TextIO, name: str) -> bool:
    """Return whether the encoding of `stream` has this standard name."""
    return codecs.lookup(stream.encoding or "utf-8").name == name


def _reconfigure(stream: TextIO, **options: str) -> None:
    stream.reconfigure(**options)  # type: ignore[attr-defined]


def restart_in_utf8_mode() -> None:
    """Replace this process by the same program in UTF-8 mode: notes link to each other by UTF-8
    names, but Python decodes file names in the locale's encoding. Output stays in the locale's
    encoding. Does nothing in UTF-8 mode, if it is set by -X utf8, or if exec fails.
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


def set_while_writing(context: AbstractContextManager[None] | None) -> None:
    """Enter `context` whenever something is written, as a progress line has to be erased before."""
    global _while_writing
    _while_writing = context


def write_out(text: str) -> None:
    """Write `text` to stdout, to its end. Here, as a quick answer imports next to nothing. Raises
    OutputFailed.
    """
    if not text:
        return
    try:
        _write(sys.stdout, text)
    except OSError as error:
        from ricordo.errors import OutputFailed

        raise OutputFailed(error) from None


def write_error(text: str) -> None:
    """Write `text` to stderr; if that fails it is lost."""
    try:
        _write(sys.stderr, text)
    except OSError:
        discard(sys.stderr)


def _write(stream: TextIO, text: str) -> None:
    if _while_writing is None:
        stream.write(text)
        stream.flush()
        return
    with _while_writing:
        stream.write(text)
        stream.flush()
