"""How far something is, as one line of the terminal that is written over and gone at the end."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ricordo.cli.output import tell
from ricordo.cli.streams import is_dumb_terminal
from ricordo.errors import NOTHING_CHANGED
from ricordo.text import cells, clip, encodable, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ricordo.curator.engine import Progress, Step

_QUIET = 0.3
"""Seconds in which nothing is shown: what is done by then needs no line."""

_USUAL_WIDTH = 80


@contextmanager
def progress_line() -> Iterator[Step]:
    """Give what tells how far a curation is; it shows that where a person sees it. Says so where
    the person cancels.
    """
    line = _Line()
    try:
        yield line.show if sys.stderr.isatty() and not is_dumb_terminal() else lambda _: None
    except KeyboardInterrupt:
        line.clear()
        tell([f"Cancelled. {NOTHING_CHANGED}"])
        raise
    finally:
        line.clear()


class _Line:
    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown = ""

    def show(self, progress: Progress) -> None:
        seconds = time.monotonic() - self._began
        if seconds < _QUIET:
            return
        tokens = f", {progress.tokens:,} tokens" if progress.tokens else ""
        text = clip(one_line(f"{progress.phase}{tokens}, {seconds:.0f} s"), _width())
        if text != self._shown:
            self.clear()
            self._write(text)
            self._shown = text

    def clear(self) -> None:
        if self._shown:
            self._write(f"\r{' ' * cells(self._shown)}\r")
            self._shown = ""

    def _write(self, text: str) -> None:
        sys.stderr.write(encodable(text))
        sys.stderr.flush()


def _width() -> int:
    """Return the cells that a line may have: in the last one, some terminals go to the next."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns - 1
    except (OSError, ValueError):
        return _USUAL_WIDTH - 1
