"""Running a program of the person's: no shell, so many bytes and so long, and nothing of it left at
the end. One that is asked as a model is runs in an empty folder.
"""

from __future__ import annotations

import os
import re
import secrets
import selectors
import shlex
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache
from shutil import which
from typing import IO, Any

from ricordo.errors import WrongUsage
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.question import Bounds, TokenUsage
from ricordo.llm.redaction import Sealed
from ricordo.llm.schema import Misshapen, parse
from ricordo.llm.wait import Interrupted, interrupts_held
from ricordo.resources import data_text
from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.private_copy import empty_folder
from ricordo.text import clip, one_line

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
            raise ModelFailed(FailureCause.PROGRAM, f"{words[0]}: {why}") from None
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
        return ModelFailed(FailureCause.TOO_SLOW, told, remedy=_TOO_SLOW if last else "")

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
            raise ModelFailed(FailureCause.TOO_LONG, f"{self._bounds.most_bytes // 1024} KB")
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


_FENCED = re.compile(r"```(?:json)?\n(.*)\n```", re.DOTALL)
_WIDEST = 60


@dataclass(frozen=True, slots=True)
class Program:
    """A program as it is run."""

    words: tuple[str, ...]
    """Its line, word by word; no shell reads it."""
    is_known: bool
    """Whether we know how its memory, hooks and tools are turned off, and have done so."""
    reply: str = ""
    """How its answer is wrapped; "" for plainly."""
    logged_out: str = ""
    """A pattern: what it says where nobody is logged in, before it has sent anything."""
    turned_down: str = ""
    """A pattern: what it says where its account is not accepted."""
    login: str = ""
    """What to do then."""

    @property
    def line(self) -> str:
        """The line as it is shown before the first run."""
        return shlex.join(self.words)

    @property
    def name(self) -> str:
        """What it is called in the ledger."""
        return os.path.basename(self.words[0])


@dataclass(frozen=True, slots=True)
class ProgramReply:
    """What a program answered."""

    text: str
    usage: TokenUsage | None = None
    """What it cost, where the program says so."""
    usd: float | None = None
    failure: ModelFailed | None = None
    """Why it is no answer; it may have cost something all the same."""


def program_of(words: Sequence[str]) -> Program:
    """Return the program of the `words` that the user has set, with what has to be on its line.
    Raises WrongUsage where it cannot be run.
    """
    if not words:
        raise WrongUsage("No program is named.")
    known = _known().get(os.path.basename(words[0]))
    if known is None:
        return Program(tuple(words), is_known=False)
    for word in words[1:]:
        if word.partition("=")[0] in known["refused"]:
            told = (
                f"“{clip(shlex.join(words), _WIDEST)}” has {clip(word, _WIDEST)}, "
                "which Ricordo sets or forbids."
            )
            raise WrongUsage(f"{told} Leave it out.")
    first, *rest = words
    added = [word for word in known["words"] if word not in rest]
    whole = (first, *added, *rest, *known["switches"])
    about = {name: known.get(name, "") for name in ("reply", "logged_out", "turned_down", "login")}
    return Program(whole, is_known=True, **about)


def known_programs(path: str | None) -> tuple[tuple[str, ...], ...]:
    """Return the lines of the programs that we know and that are found on `path`, written as a
    variable of the environment; by that of this process where it is None.
    """
    found = ((name, *known["words"]) for name, known in _known().items())
    return tuple(line for line in found if which(line[0], path=path))


def unwrapped(program: Program, ended: Ended) -> ProgramReply:
    """Return what a program said, also of why it has no answer."""
    text = ended.output.decode("utf-8", "replace").strip()
    said = _of_result(program, text) if program.reply == "result" else ProgramReply(_plain(text))
    if ended.code and not (said.failure and said.usage):
        told = ended.complaint
        why = f"it ended with {ended.code}" + (f" and says “{told}”" if told else "")
        return replace(said, failure=_failure(program, told, why))
    return said


def _of_result(program: Program, text: str) -> ProgramReply:
    try:
        told = parse(text)
    except Misshapen as error:
        return ProgramReply("", failure=ModelFailed(FailureCause.MISSHAPEN, str(error)))
    if not isinstance(told, dict) or not isinstance(told.get("result"), str):
        return ProgramReply("", failure=ModelFailed(FailureCause.MISSHAPEN, "it holds no result"))
    result = told["result"]
    said = ProgramReply(_plain(result), _usage(told.get("usage")), _dollars(told))
    if told.get("is_error") is False:
        return said
    return replace(said, failure=_failure(program, result, f"it says “{one_line(result)}”"))


def _failure(program: Program, told: str, why: str) -> ModelFailed:
    """Return why a program gave no answer that has `told` something."""
    if program.logged_out and re.search(program.logged_out, told):
        return ModelFailed(FailureCause.NO_ACCOUNT, why, remedy=program.login)
    is_turned_down = program.turned_down and re.search(program.turned_down, told)
    return ModelFailed(FailureCause.PROGRAM, why, remedy=program.login if is_turned_down else "")


def _plain(text: str) -> str:
    """Return an answer without the fence that models like to put around one."""
    fenced = _FENCED.fullmatch(text.strip())
    return fenced[1] if fenced else text


def _usage(told: object) -> TokenUsage | None:
    if not isinstance(told, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts: list[Any] = [told.get(name) for name in (*names, "output_tokens")]
    if any(type(count) is not int or count < 0 for count in counts):
        return None
    return TokenUsage(*counts)


def _dollars(told: Mapping[str, Any]) -> float | None:
    value: Any = told.get("total_cost_usd")
    return float(value) if type(value) in (int, float) and 0 <= value < 1e6 else None


@cache
def _known() -> dict[str, dict[str, Any]]:
    return tomllib.loads(data_text("llm/programs.toml"))
