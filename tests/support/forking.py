"""`ricordo` in processes that are forked from one which has loaded its modules.

For tests that call it in hundreds of states, where how it starts is not their subject: a process
that loads everything itself takes five times as long. Arguments, environment, directory and
streams of each are its own.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
LOADED = (
    "ricordo.__main__",
    "ricordo.cli.conflicts",
    "ricordo.cli.connect",
    "ricordo.cli.curation",
    "ricordo.cli.doctor",
    "ricordo.cli.handoff",
    "ricordo.cli.lint",
    "ricordo.cli.main",
    "ricordo.cli.read",
    "ricordo.cli.search",
    "ricordo.cli.streams",
    "ricordo.hook.program",
    "ricordo.hook.prompt",
    "ricordo.hook.session_events",
    "ricordo.hook.start",
    "ricordo.lint.rules",
    "ricordo.services.connect.connection",
    "ricordo.services.connect.requests",
    "ricordo.services.handoff.resume",
    "ricordo.services.history.recorder",
    "ricordo.services.workspace.settings",
)
UNREAD = ">unread"
"""Redirects stdout to a pipe whose reader has gone."""
SECONDS = 60
_LONGEST = 1 << 16
_MOST_HANDLES = 256


class ForkedProcess:
    """`ricordo` called with `words`; its streams are pipes, as those of `subprocess.Popen`."""

    def __init__(
        self,
        words: Sequence[str],
        environ: Mapping[str, str],
        cwd: Path | str,
        loaded: Sequence[str] = LOADED,
        redirected: str = "",
    ) -> None:
        """`loaded` are the modules that it finds loaded, `redirected` is what a shell would do to
        its streams, or UNREAD.
        """
        self._server = _server(*loaded)
        request = {
            "words": words,
            "environ": dict(environ),
            "cwd": str(cwd),
            "redirected": redirected,
        }
        (its_in, ours_in), (ours_out, its_out), (ours_err, its_err) = (os.pipe() for _ in range(3))
        theirs = (its_in, its_out, its_err)
        socket.send_fds(self._server, [json.dumps(request).encode()], theirs)
        for handle in theirs:
            os.close(handle)
        self.stdin = os.fdopen(ours_in, "wb")
        self.stdout = os.fdopen(ours_out, "rb")
        self.stderr = os.fdopen(ours_err, "rb")
        self.pid = int(self._server.recv(_LONGEST))
        self._code: int | None = None

    def wait(self, timeout: float = SECONDS) -> int:
        """Return its exit code, or its signal below 0, once it has ended; it is killed after
        `timeout` seconds.
        """
        if self._code is None:
            with self.killed_after(timeout):
                self._server.send(json.dumps(self.pid).encode())
                self._code = int(self._server.recv(_LONGEST))
        return self._code

    @contextmanager
    def killed_after(self, seconds: float) -> Iterator[None]:
        """Kill it unless the block ends in time."""
        too_late = Timer(seconds, self.kill)
        too_late.start()
        try:
            yield
        finally:
            too_late.cancel()

    def kill(self) -> None:
        """End it at once."""
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)


def run_forked(
    *words: str,
    environ: Mapping[str, str],
    cwd: Path | str,
    given: bytes = b"",
    redirected: str = "",
) -> CompletedProcess[bytes]:
    """Call `ricordo` with `words`, its streams `redirected` as a shell does; return what it
    printed.
    """
    process = ForkedProcess(words, environ, cwd, redirected=redirected)
    with process.stdin, process.stdout, process.stderr, process.killed_after(SECONDS):
        with suppress(BrokenPipeError):
            process.stdin.write(given)
            process.stdin.close()
        out, err = process.stdout.read(), process.stderr.read()
        return CompletedProcess(words, process.wait(), out, err)


@cache
def _server(*loaded: str) -> socket.socket:
    """Return the connection to the process that forks, which ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    code = f"from tests.support.forking import serve; serve({theirs.fileno()}, {loaded})"
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    os.set_inheritable(theirs.fileno(), True)
    os.posix_spawn(sys.executable, [sys.executable, "-P", "-c", code], environ)
    theirs.close()
    return ours


def serve(number: int, loaded: Sequence[str]) -> None:
    """Fork a process for each request on the socket `number` and answer with its id; for an id,
    answer with the code that its process ended with.
    """
    for name in loaded:
        import_module(name)
    if loaded == LOADED:
        _judge_once()
    sys.path.remove(str(ROOT))
    gc.freeze()
    with socket.socket(fileno=number) as connection:
        while True:
            message, handles, _, _ = socket.recv_fds(connection, _LONGEST, 3)
            if not message:
                return
            request = json.loads(message)
            if isinstance(request, int):
                answer = os.waitstatus_to_exitcode(os.waitpid(request, 0)[1])
            else:
                answer = os.fork()
                if not answer:
                    connection.detach()
                    _run(request, handles)
            for handle in handles:
                os.close(handle)
            connection.send(str(answer).encode())


def _judge_once() -> None:
    """Judge a small memory, which compiles the expressions and reads the tables for that."""
    from ricordo.cli.main import run
    from tests.support.builders import note_text, write_memory

    notes = {
        "left.md": note_text("left", "The web view listens on port 8040.\n"),
        "right.md": note_text("right", "The web view listens on port 8100.\n"),
    }
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        memory = write_memory(Path(folder, "memory"), notes)
        os.environ |= {"HOME": folder, "RICORDO_STATE": str(Path(folder, "state"))}
        run(["lint", "-m", str(memory)])


def _run(request: Mapping[str, Any], handles: list[int]) -> NoReturn:
    """Be `ricordo` in this process, and end it as Python ends."""
    from ricordo.__main__ import main

    for stream, handle in enumerate(handles):
        os.dup2(handle, stream)
    os.closerange(3, _MOST_HANDLES)
    _redirect(request["redirected"])
    os.environ.clear()
    os.environ.update(request["environ"])
    sys.stdin = _open_stream(0, "r")
    sys.stdout = _open_stream(1, "w")
    sys.stderr = _open_stream(2, "w")
    os.chdir(request["cwd"])
    sys.argv = ["ricordo", *request["words"]]
    sys.exit(main())


def _redirect(redirected: str) -> None:
    """Do to the streams what a shell does for `redirected`: one word a stream."""
    for word in redirected.split():
        stream = 2 if word.startswith("2") else int(">" in word)
        target = word.lstrip("2<>")
        if target == "&-":
            os.close(stream)
            continue
        if word == UNREAD:
            reading, writing = os.pipe()
            os.close(reading)
        else:
            writing = os.open(target, os.O_WRONLY if stream else os.O_RDONLY)
        os.dup2(writing, stream)
        os.close(writing)


def _open_stream(number: int, mode: str) -> Any:
    """Return the stream that Python makes of an open handle when it starts."""
    try:
        os.fstat(number)
    except OSError:
        return None
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    if number == 2:
        errors = "backslashreplace"
    return os.fdopen(number, mode, encoding=encoding or None, errors=errors or None, closefd=False)
