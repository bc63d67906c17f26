"""`ricordo` in processes that are forked from one which has loaded its modules.

For tests that call it in hundreds of states, where how it starts is not their subject: a process
that loads everything itself takes five times as long. What each sees is its own: arguments,
environment, directory and streams.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
import tempfile
import traceback
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LOADED = (
    "ricordo.__main__",
    "ricordo.cli.connect",
    "ricordo.cli.main",
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
SECONDS = 60
_LONGEST = 1 << 16
_MOST_HANDLES = 256


def run_forked(
    *words: str, environ: Mapping[str, str], cwd: Path | str, given: bytes = b""
) -> CompletedProcess[bytes]:
    """Call `ricordo` with `words`; return what it printed."""
    request = {"words": words, "environ": dict(environ), "cwd": str(cwd)}
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        handles = (reading, out.fileno(), err.fileno())
        socket.send_fds(_server(), [json.dumps(request).encode()], handles)
        os.close(reading)
        with suppress(BrokenPipeError), os.fdopen(writing, "wb") as stdin:
            stdin.write(given)
        code = int(_server().recv(_LONGEST))
        out.seek(0)
        err.seek(0)
        return CompletedProcess(words, code, out.read(), err.read())


@cache
def _server() -> socket.socket:
    """Return the connection to the process that forks, which ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    code = f"from tests.support.forking import serve; serve({theirs.fileno()})"
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    os.set_inheritable(theirs.fileno(), True)
    os.posix_spawn(sys.executable, [sys.executable, "-P", "-c", code], environ)
    theirs.close()
    ours.settimeout(SECONDS)
    return ours


def serve(number: int) -> None:
    """Fork a process for each request on the socket `number`, and answer with its exit code."""
    for name in LOADED:
        import_module(name)
    sys.path.remove(str(ROOT))
    gc.freeze()
    with socket.socket(fileno=number) as connection:
        while True:
            message, handles, _, _ = socket.recv_fds(connection, _LONGEST, 3)
            if not message:
                return
            child = os.fork()
            if not child:
                _run(json.loads(message), handles)
            for handle in handles:
                os.close(handle)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            connection.send(str(code).encode())


def _run(request: Mapping[str, Any], handles: list[int]) -> None:
    """Be `ricordo` in this process; do not return."""
    from ricordo.__main__ import main

    for stream, handle in enumerate(handles):
        os.dup2(handle, stream)
    os.closerange(3, _MOST_HANDLES)
    os.environ.clear()
    os.environ.update(request["environ"])
    os.chdir(request["cwd"])
    sys.argv = ["ricordo", *request["words"]]
    code: object = 70
    try:
        code = main()
    except SystemExit as error:
        code = error.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0)
