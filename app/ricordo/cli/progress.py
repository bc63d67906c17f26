"""A line on the terminal that shows what a command does, once it takes longer than a second."""

from __future__ import annotations

import os
import sys
import threading
import time

from ricordo.cli.streams import is_dumb_terminal, set_while_writing
from ricordo.text import clip, count_cells, make_encodable, make_one_line

_PATIENCE = 1.0
"""Seconds before the line is shown: quicker work needs none."""
_INTERVAL = 0.25
"""Seconds between two states of the line."""
_DEFAULT_WIDTH = 80


class ProgressLine:
    """A line on stderr with the phase of a command and the seconds that it took; a thread draws it,
    so that it also moves in a phase that reports nothing. It is erased while others write.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._phase = ""
        self._began = time.monotonic()
        self._shown = ""
        self._lock = threading.RLock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._draw_until_over, daemon=True)
        self._thread.start()

    def set_phase(self, phase: str) -> None:
        """Show `phase` from now on."""
        self._phase = phase

    def __enter__(self) -> None:
        """Erase the line, and let nobody draw it."""
        self._lock.acquire()
        self._erase()

    def __exit__(self, *error: object) -> None:
        """Let the line be drawn again."""
        self._lock.release()

    def stop(self) -> None:
        """Erase the line for good."""
        self._is_over.set()
        self._thread.join()
        self._erase()

    def _draw_until_over(self) -> None:
        wait = _PATIENCE
        while not self._is_over.wait(wait):
            wait = _INTERVAL
            with self._lock:
                self._draw()

    def _draw(self) -> None:
        seconds = time.monotonic() - self._began
        what = f"{self._name}: {self._phase}" if self._phase else self._name
        text = clip(make_one_line(f"{what}, {seconds:.0f} s"), get_stderr_width())
        if text != self._shown:
            self._erase()
            self._write(text)
            self._shown = text

    def _erase(self) -> None:
        if self._shown:
            self._write(f"\r{' ' * count_cells(self._shown)}\r")
            self._shown = ""

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(make_encodable(text))
            sys.stderr.flush()
        except OSError:
            # the terminal is gone; so is the need for the line
            self._is_over.set()


_line: ProgressLine | None = None


def start_progress(name: str) -> None:
    """Show on a terminal that the command `name` works, from its second second on."""
    global _line
    if sys.stderr.isatty() and not is_dumb_terminal():
        _line = ProgressLine(name)
        set_while_writing(_line)


def set_phase(phase: str) -> None:
    """Show what the command does now."""
    if _line is not None:
        _line.set_phase(phase)


def stop_progress() -> None:
    """Erase the line for good, as something else is shown or the user is asked."""
    global _line
    if _line is not None:
        set_while_writing(None)
        _line.stop()
        _line = None


def get_stderr_width() -> int:
    """Return the usable width in cells: some terminals wrap after the last cell."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns - 1
    except (OSError, ValueError):
        return _DEFAULT_WIDTH - 1
