"""Run a program of the user's without a shell, with limits on time and output, and end every
process that it started. A program that is asked like a model runs in an empty folder.
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
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from shutil import which
from typing import IO, Any

import tomli

from ricordo.errors import WrongUsage
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.question import RequestLimits, TokenUsage
from ricordo.llm.redaction import Sealed
from ricordo.llm.schema import SchemaError, parse
from ricordo.llm.wait import run_interruptibly
from ricordo.resources import read_data_text
from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.private_copy import empty_folder
from ricordo.text import clip, make_one_line

CURATING_VARIABLE = "RICORDO_CURATING"
"""Environment variable, 1 for the program: Ricordo's hooks then do nothing."""
RUN_VARIABLE = "RICORDO_RUN"
"""Environment variable with the id of the run."""
_POLL_INTERVAL = 0.1
_PIECE = 1 << 16
_TERM_SECONDS = 0.3
"""Seconds between SIGTERM and SIGKILL."""
_KILL_SECONDS = 5.0
"""Seconds for which its child processes are searched and killed: on a busy machine a process lives
on for a while after SIGKILL.
"""
_ERROR_TAIL = 4096
_FINAL_READS = 32
"""Reads after the program has ended: more than a pipe holds."""
_LARGEST_ENVIRON = 1 << 20
_TOO_SLOW = "Run it yourself to see why, or curate less at once."


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The result of a program that has ended."""

    code: int
    """The exit code; 0 for success."""
    output: bytes
    errors: str
    """The end of its standard error."""

    @property
    def complaint(self) -> str:
        """The last line that starts with “error”, or else the last line; "" where there is none."""
        written = self.errors.strip() or self.output[-_ERROR_TAIL:].decode("utf-8", "replace")
        lines = [line for line in written.split("\n") if line.strip()]
        errors = [line for line in lines if line.lstrip().lower().startswith("error")]
        return make_one_line((errors or lines or [""])[-1].strip())


def run_program(
    words: Sequence[str],
    text: Sealed,
    environ: Mapping[str, str],
    bounds: RequestLimits,
    step: Callable[[], None],
) -> ProgramResult:
    """Start the program with the arguments `words` and the input `text`, and return its result.
    `step` is called ten times a second; what it raises ends the program and is raised here, as is
    KeyboardInterrupt for any interrupt. Raises ModelFailed where the program cannot be started or
    does not end in time.
    """
    environ = {**environ, CURATING_VARIABLE: "1"}
    return run_interruptibly(partial(_run, empty_folder(), words, text, environ, bounds), step)


def run_program_in(
    folder: str,
    words: Sequence[str],
    text: str,
    environ: Mapping[str, str],
    bounds: RequestLimits,
    step: Callable[[], None],
) -> ProgramResult:
    """Run a program like `run_program`, but in a `folder` of the user's, and with nothing added to
    the environment but the id of the run.
    """
    return run_interruptibly(partial(_run, nullcontext(folder), words, text, environ, bounds), step)


def _run(
    where: AbstractContextManager[str],
    words: Sequence[str],
    text: str,
    environ: Mapping[str, str],
    bounds: RequestLimits,
    step: Callable[[], None],
) -> ProgramResult:
    run = secrets.token_hex(16)
    with where as folder:
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={**environ, RUN_VARIABLE: run},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "the command line is invalid"
            raise ModelFailed(FailureCause.PROGRAM, f"{words[0]}: {why}") from None
        running = _RunningProgram(process, text.encode("utf-8", "replace"), bounds)
        try:
            running.communicate(step)
        finally:
            _end_all(process, run, os.path.realpath(folder))
    return running.get_result()


class _RunningProgram:
    """A running program and its pipes."""

    def __init__(
        self, process: subprocess.Popen[bytes], text: bytes, bounds: RequestLimits
    ) -> None:
        self._process = process
        self._input = memoryview(text)
        self._bounds = bounds
        self._until = time.monotonic() + bounds.total
        self.output = bytearray()
        self.errors = bytearray()
        """The end of its standard error."""

    def communicate(self, step: Callable[[], None]) -> None:
        """Write its input and read its output until it ends. Raises ModelFailed, and what `step`
        raises.
        """
        with selectors.DefaultSelector() as selector:
            for pipe, event in self._pipes():
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, event, pipe)
            has_ended = False
            while not has_ended:
                step()
                if time.monotonic() >= self._until:
                    raise self._make_timeout()
                # its children may hold the pipes open forever, so its own end counts
                has_ended = _has_ended(self._process)
                self._handle_pipes(selector, 0.0 if has_ended else _POLL_INTERVAL)
            for _ in range(_FINAL_READS):
                self._handle_pipes(selector, 0.0)

    def get_result(self) -> ProgramResult:
        """Return its result so far."""
        code = self._process.returncode or 0
        return ProgramResult(code, bytes(self.output), self.errors.decode("utf-8", "replace"))

    def _make_timeout(self) -> ModelFailed:
        last = self.get_result().complaint
        output = f"; last output of the program: “{last}”" if last else ""
        detail = f"{self._bounds.total:g} seconds{output}"
        return ModelFailed(FailureCause.TOO_SLOW, detail, remedy=_TOO_SLOW if last else "")

    def _pipes(self) -> tuple[tuple[IO[bytes], int], ...]:
        events = (selectors.EVENT_WRITE, selectors.EVENT_READ, selectors.EVENT_READ)
        process = self._process
        pipes = (process.stdin, process.stdout, process.stderr)
        return tuple((pipe, event) for pipe, event in zip(pipes, events, strict=True) if pipe)

    def _handle_pipes(self, selector: selectors.BaseSelector, timeout: float) -> None:
        """Read and write the pipes that are ready, or become ready within `timeout` seconds."""
        if not selector.get_map():
            time.sleep(timeout)
        for key, _ in selector.select(timeout) if selector.get_map() else ():
            pipe: IO[bytes] = key.data
            is_open = self._feed() if pipe is self._process.stdin else self._read(pipe)
            if not is_open:
                selector.unregister(pipe)
                with suppress(OSError):
                    pipe.close()

    def _feed(self) -> bool:
        assert self._process.stdin
        try:
            self._input = self._input[
                os.write(self._process.stdin.fileno(), self._input[:_PIECE]) :
            ]
        except BlockingIOError:
            return True
        except OSError:  # the program has closed its input
            return False
        return bool(self._input)

    def _read(self, pipe: IO[bytes]) -> bool:
        piece = os.read(pipe.fileno(), _PIECE)
        if pipe is self._process.stderr:
            self.errors += piece
            del self.errors[:-_ERROR_TAIL]
        else:
            self.output += piece
        if len(self.output) > self._bounds.max_bytes:
            raise ModelFailed(FailureCause.TOO_LONG, f"{self._bounds.max_bytes // 1024} KB")
        return bool(piece)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether it has ended, without reaping it: until then no other process gets its pid."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_all(process: subprocess.Popen[bytes], run: str, folder: str) -> None:
    """End the process and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    until = time.monotonic() + _TERM_SECONDS
    while not _has_ended(process) and time.monotonic() < until:
        time.sleep(0.01)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    # a process that has left the group may start others while this searches
    until = time.monotonic() + _KILL_SECONDS
    while (strays := _find_strays(run, folder)) and time.monotonic() < until:
        for stray in strays:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)
        time.sleep(0.01)


def _find_strays(run: str, folder: str) -> list[int]:
    """Return the pids of a run's processes that have left its group: they have its id in their
    environment, or its folder as working directory. Linux only; else empty.
    """
    mark = f"{RUN_VARIABLE}={run}".encode()
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    pids = [pid for pid in pids if pid != os.getpid()]
    return [pid for pid in pids if mark in _read_environ(pid) or _read_folder(pid) == folder]


def _read_folder(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def _read_environ(pid: int) -> bytes:
    return read_plain_file(f"/proc/{pid}/environ", _LARGEST_ENVIRON) or b""


_FENCED = re.compile(r"```(?:json)?\n(.*)\n```", re.DOTALL)
_WIDEST = 60


@dataclass(frozen=True, slots=True)
class Program:
    """A program with its complete command line."""

    words: tuple[str, ...]
    """Its arguments, the program first; no shell reads them."""
    is_known: bool
    """Whether Ricordo knows how to turn off its memory, hooks and tools, and has done so."""
    reply: str = ""
    """How its answer is wrapped; "" for plain text."""
    logged_out: str = ""
    """Pattern of its output where it is not logged in; nothing was sent then."""
    turned_down: str = ""
    """Pattern of its output where its account is rejected."""
    login: str = ""
    """How to log in."""

    @property
    def line(self) -> str:
        """The command line, shown before the first run."""
        return shlex.join(self.words)

    @property
    def name(self) -> str:
        """Its name in the ledger."""
        return os.path.basename(self.words[0])


@dataclass(frozen=True, slots=True)
class ProgramReply:
    """The answer of a program."""

    text: str
    usage: TokenUsage | None = None
    """The tokens, where the program reports them."""
    usd: float | None = None
    failure: ModelFailed | None = None
    """Why it is no answer; it may have cost something nevertheless."""


def resolve_program(words: Sequence[str]) -> Program:
    """Return the program of the `words` that the user has set, with the required arguments added.
    Raises WrongUsage where it may not be run.
    """
    if not words:
        raise WrongUsage("No program given.")
    known = _load_known_programs().get(os.path.basename(words[0]))
    if known is None:
        return Program(tuple(words), is_known=False)
    for word in words[1:]:
        if word.partition("=")[0] in known["refused"]:
            raise WrongUsage(
                f"“{clip(shlex.join(words), _WIDEST)}” has {clip(word, _WIDEST)}, "
                "which Ricordo sets or forbids. Remove it."
            )
    first, *rest = words
    added = [word for word in known["words"] if word not in rest]
    line = (first, *added, *rest, *known["switches"])
    texts = {name: known.get(name, "") for name in ("reply", "logged_out", "turned_down", "login")}
    return Program(line, is_known=True, **texts)


def find_known_programs(path: str | None) -> tuple[tuple[str, ...], ...]:
    """Return the command lines of the known programs that are installed on `path`, the value of a
    PATH variable; None for that of this process.
    """
    lines = ((name, *known["words"]) for name, known in _load_known_programs().items())
    return tuple(line for line in lines if which(line[0], path=path))


def read_reply(program: Program, ended: ProgramResult) -> ProgramReply:
    """Return the reply of a program that has ended, or the reason why it has no answer."""
    text = ended.output.decode("utf-8", "replace").strip()
    if program.reply == "result":
        reply = _parse_result(program, text)
    else:
        reply = ProgramReply(_strip_fence(text))
    if ended.code and not (reply.failure and reply.usage):
        message = ended.complaint
        why = f"exit code {ended.code}" + (f", “{message}”" if message else "")
        return replace(reply, failure=_make_failure(program, message, why))
    return reply


def _parse_result(program: Program, text: str) -> ProgramReply:
    try:
        document = parse(text)
    except SchemaError as error:
        return ProgramReply("", failure=ModelFailed(FailureCause.MALFORMED, str(error)))
    if not isinstance(document, dict) or not isinstance(document.get("result"), str):
        return ProgramReply(
            "", failure=ModelFailed(FailureCause.MALFORMED, "it has no field “result”")
        )
    result = document["result"]
    reply = ProgramReply(
        _strip_fence(result), _parse_usage(document.get("usage")), _parse_dollars(document)
    )
    if document.get("is_error") is False:
        return reply
    return replace(reply, failure=_make_failure(program, result, f"“{make_one_line(result)}”"))


def _make_failure(program: Program, message: str, why: str) -> ModelFailed:
    """Return why a program gave no answer, by its `message`."""
    if program.logged_out and re.search(program.logged_out, message):
        return ModelFailed(FailureCause.NO_ACCOUNT, why, remedy=program.login)
    is_rejected = program.turned_down and re.search(program.turned_down, message)
    return ModelFailed(FailureCause.PROGRAM, why, remedy=program.login if is_rejected else "")


def _strip_fence(text: str) -> str:
    """Return an answer without the code fence that models often put around it."""
    fenced = _FENCED.fullmatch(text.strip())
    return fenced[1] if fenced else text


def _parse_usage(document: object) -> TokenUsage | None:
    if not isinstance(document, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts: list[Any] = [document.get(name) for name in (*names, "output_tokens")]
    if any(type(count) is not int or count < 0 for count in counts):
        return None
    return TokenUsage(*counts)


def _parse_dollars(document: Mapping[str, Any]) -> float | None:
    value: Any = document.get("total_cost_usd")
    return float(value) if type(value) in (int, float) and 0 <= value < 1e6 else None


@cache
def _load_known_programs() -> dict[str, dict[str, Any]]:
    return tomli.loads(read_data_text("llm/programs.toml"))
