"""A program on a pseudo-terminal: what it paints, what it is sent, what it costs."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

COLUMNS, ROWS = 120, 40
_ESCAPE = re.compile(
    rb"""\x1b(?:
        \[ [0-9;:?<=>]* [\x20-/]* [@-~]            # control sequences
      | \] [^\x07\x1b]* (?:\x07|\x1b\\)          # titles, links, the clipboard
      | P [^\x1b]* \x1b\\                        # device control
      | [()] [0-9A-B] | [=>78]                   # character sets, keypad, cursor
    )""",
    re.VERBOSE,
)
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


class TooSlow(Exception):
    """What was waited for did not come."""


class Terminal:
    """A program that was started on a pseudo-terminal of 120 by 40 cells.

    Used as a context manager; leaving it stops the program.
    """

    def __init__(self, words: Sequence[str], environ: Mapping[str, str], cwd: Path) -> None:
        self.painted = b""
        """All that was painted since the last `forget`, without escape sequences."""
        self.started = time.perf_counter()
        self._raw = b""
        self._pid, self._handle = pty.fork()
        if self._pid == 0:
            _become(words, environ, cwd)
        size = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
        fcntl.ioctl(self._handle, termios.TIOCSWINSZ, size)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._handle)

    def send(self, keys: str) -> None:
        """Press keys."""
        os.write(self._handle, keys.encode())

    def forget(self) -> None:
        """Forget what was painted."""
        self._raw = self.painted = b""

    def wait_for(self, *texts: str, seconds: float = 60) -> float:
        """Wait until one of `texts` has been painted; return the moment (time.perf_counter)."""
        wanted = [text.encode() for text in texts]
        return self.wait_until(lambda painted: any(t in painted for t in wanted), seconds)

    def wait_until(self, holds: Callable[[bytes], bool], seconds: float = 60) -> float:
        """Wait until `holds` is true of what was painted; return the moment.

        Raises TooSlow, with the end of what was painted, after so many seconds.
        """
        deadline = time.perf_counter() + seconds
        while not holds(self.painted):
            if not self._read(deadline - time.perf_counter()) or time.perf_counter() > deadline:
                shown = self.painted[-400:].decode("utf-8", "replace")
                raise TooSlow(f"it did not come in {seconds} s; painted last: {shown!r}")
        return time.perf_counter()

    def settle(self, quiet: float = 0.05, seconds: float = 20) -> float:
        """Wait until nothing has been painted for `quiet` seconds; return the moment of the last
        paint (time.perf_counter), or of the call where nothing was painted.
        """
        last = time.perf_counter()
        deadline = last + seconds
        while self._read(quiet) and last < deadline:
            last = time.perf_counter()
        return last

    def gone(self, seconds: float = 60) -> float:
        """Wait until the program has ended by itself; return the moment (time.perf_counter).
        Raises TooSlow.
        """
        deadline = time.perf_counter() + seconds
        while os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            self._read(0.005)
            if time.perf_counter() > deadline:
                raise TooSlow(f"it did not end in {seconds} s")
        return time.perf_counter()

    def cpu(self) -> float:
        """Return the seconds of processor time that the program has taken so far (Linux only)."""
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS

    def _read(self, seconds: float) -> bool:
        """Read what is painted within `seconds`; return whether anything was."""
        ready, _, _ = select.select([self._handle], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            self._raw += os.read(self._handle, 65_536)
        except OSError:
            return False
        self.painted = _ESCAPE.sub(b"", self._raw)
        return True


def _become(words: Sequence[str], environ: Mapping[str, str], cwd: Path) -> None:
    """In the child: turn into the program; never return."""
    try:
        os.chdir(cwd)
        os.execve(words[0], list(words), dict(environ))
    finally:
        os._exit(127)
