"""Running a program of the person's: no shell, so many bytes and so long, and nothing of it left at
the end. One that is asked as a model is runs in an empty folder.
"""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import IO

from ricordo.disk.plain_file import read_plain_file
from ricordo.disk.throwaway import empty_folder
from ricordo.model.bounds import Bounds
from ricordo.model.failure import Cause, ModelFailed
from ricordo.model.interrupts import Interrupted, interrupts_held
from ricordo.model.redaction import Sealed
from ricordo.text import one_line

CURATING = "RICORDO_CURATING"
"""Set to 1 in the environment of the program: our hooks then do nothing."""
RUN = "RICORDO_RUN"
"""Names the run there."""
_LOOK_EVERY = 0.1
_PIECE = 1 << 16
_GRACE = 0.3
"""Seconds that it has to end by itself once it is told to."""
_PATIENCE = 5.0
"""Seconds for which what it started is looked for and killed: on a busy machine a process lives on
for a while after it was killed.
"""
_KEPT_ERRORS = 4096
_LAST_PIECES = 32
"""How many pieces are still taken once it has ended: more than a pipe holds."""
_LARGEST_ENVIRON = 1 << 20
_TOO_SLOW = "Run it yourself to see why, or curate less at once."


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of a program that ran to its end."""

    code: int
    """0 where it says that all went well."""
    output: bytes
    errors: str
    """The end of what it wrote to its standard error."""

    @property
    def complaint(self) -> str:
        """The last line in which it complains, else its last one; "" where it wrote none."""
        written = self.errors.strip() or self.output[-_KEPT_ERRORS:].decode("utf-8", "replace")
        lines = [line for line in written.split("\n") if line.strip()]
        complaints = [line for line in lines if line.lstrip().lower().startswith("error")]
        return one_line((complaints or lines or [""])[-1].strip())


def run_program(
    words: Sequence[str],
    text: Sealed,
    environ: Mapping[str, str],
    bounds: Bounds,
    step: Callable[[], None],
) -> Ended:
    """Return what comes of the program that is started by `words` and reads `text`. `step` is
    called ten times a second; what it raises ends the program and is raised here, as is
    KeyboardInterrupt for whatever interrupts it. Raises ModelFailed where it cannot be started or
    does not come to an end.
    """
    return _run(empty_folder(), words, text, {**environ, CURATING: "1"}, bounds, step)


def run_in(
    folder: str,
    words: Sequence[str],
    text: str,
    environ: Mapping[str, str],
    bounds: Bounds,
    step: Callable[[], None],
) -> Ended:
    """Do what `run_program` does, in a `folder` of the person's and with nothing added to the
    environment but the name of the run.
    """
    return _run(nullcontext(folder), words, text, environ, bounds, step)


def _run(
    where: AbstractContextManager[str],
    words: Sequence[str],
    text: str,
    environ: Mapping[str, str],
    bounds: Bounds,
    step: Callable[[], None],
) -> Ended:
    with interrupts_held() as raise_held:

        def stepping() -> None:
            raise_held()
            step()

        try:
            ended = _ended(where, words, text, environ, bounds, stepping)
            raise_held()
            return ended
        except Interrupted:
            raise KeyboardInterrupt from None


def _ended(
    where: AbstractContextManager[str],
    words: Sequence[str],
    text: str,
    environ: Mapping[str, str],
    bounds: Bounds,
    step: Callable[[], None],
) -> Ended:
    run = secrets.token_hex(16)
    with where as folder:
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={**environ, RUN: run},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "its line cannot be run"
            raise ModelFailed(Cause.PROGRAM, f"{words[0]}: {why}") from None
        running = _Running(process, text.encode("utf-8", "replace"), bounds)
        try:
            running.until_done(step)
        finally:
            _end(process, run, os.path.realpath(folder))
    return running.ended()


class _Running:
    """A program that runs."""

    def __init__(self, process: subprocess.Popen[bytes], text: bytes, bounds: Bounds) -> None:
        self._process = process
        self._left = memoryview(text)
        self._bounds = bounds
        self._until = time.monotonic() + bounds.total
        self.output = bytearray()
        self.errors = bytearray()
        """The end of what it wrote to its standard error."""

    def until_done(self, step: Callable[[], None]) -> None:
        """Feed it and listen to it until it ends. Raises ModelFailed, and what `step` raises."""
        with selectors.DefaultSelector() as selector:
            for pipe, event in self._pipes():
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, event, pipe)
            has_ended = False
            while not has_ended:
                step()
                if time.monotonic() >= self._until:
                    raise self._too_slow()
                # what it started may hold its pipes open for ever, so its own end counts
                has_ended = _has_ended(self._process)
                self._handle(selector, 0.0 if has_ended else _LOOK_EVERY)
            for _ in range(_LAST_PIECES):
                self._handle(selector, 0.0)

    def ended(self) -> Ended:
        """Return what came of it until now."""
        code = self._process.returncode or 0
        return Ended(code, bytes(self.output), self.errors.decode("utf-8", "replace"))

    def _too_slow(self) -> ModelFailed:
        last = self.ended().complaint
        said = f", and the last that the program said was “{last}”" if last else ""
        told = f"{self._bounds.total:g} seconds{said}"
        return ModelFailed(Cause.TOO_SLOW, told, remedy=_TOO_SLOW if last else "")

    def _pipes(self) -> tuple[tuple[IO[bytes], int], ...]:
        events = (selectors.EVENT_WRITE, selectors.EVENT_READ, selectors.EVENT_READ)
        process = self._process
        pipes = (process.stdin, process.stdout, process.stderr)
        return tuple((it, event) for it, event in zip(pipes, events, strict=True) if it)

    def _handle(self, selector: selectors.BaseSelector, patience: float) -> None:
        """Do what the pipes are ready for, or become ready for within `patience` seconds."""
        if not selector.get_map():
            time.sleep(patience)
        for key, _ in selector.select(patience) if selector.get_map() else ():
            pipe: IO[bytes] = key.data
            is_open = self._feed() if pipe is self._process.stdin else self._read(pipe)
            if not is_open:
                selector.unregister(pipe)
                with suppress(OSError):
                    pipe.close()

    def _feed(self) -> bool:
        assert self._process.stdin
        try:
            self._left = self._left[os.write(self._process.stdin.fileno(), self._left[:_PIECE]) :]
        except BlockingIOError:
            return True
        except OSError:  # it does not read any further
            return False
        return bool(self._left)

    def _read(self, pipe: IO[bytes]) -> bool:
        piece = os.read(pipe.fileno(), _PIECE)
        if pipe is self._process.stderr:
            self.errors += piece
            del self.errors[:-_KEPT_ERRORS]
        else:
            self.output += piece
        if len(self.output) > self._bounds.most_bytes:
            raise ModelFailed(Cause.TOO_LONG, f"{self._bounds.most_bytes // 1024} KB")
        return bool(piece)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Say whether it has ended, and leave it there: as long as it is, its number is no other's."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes], run: str, folder: str) -> None:
    """End it, and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    until = time.monotonic() + _GRACE
    while not _has_ended(process) and time.monotonic() < until:
        time.sleep(0.01)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    # what has left the group in the meantime may start others while it is looked for
    until = time.monotonic() + _PATIENCE
    while (strays := _strays(run, folder)) and time.monotonic() < until:
        for stray in strays:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)
        time.sleep(0.01)


def _strays(run: str, folder: str) -> list[int]:
    """Return the processes of a run that have left its group: its mark is in their environment, or
    they stand in its folder. Known on Linux only.
    """
    mark = f"{RUN}={run}".encode()
    try:
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    numbers = [number for number in numbers if number != os.getpid()]
    return [it for it in numbers if mark in _environ(it) or _folder_of(it) == folder]


def _folder_of(number: int) -> str:
    try:
        return os.readlink(f"/proc/{number}/cwd")
    except OSError:
        return ""


def _environ(number: int) -> bytes:
    return read_plain_file(f"/proc/{number}/environ", _LARGEST_ENVIRON) or b""
