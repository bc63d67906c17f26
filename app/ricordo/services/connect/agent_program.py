"""Running an agent's own commands: to install the folder of Ricordo, and to ask what it trusts; and
its MCP server, to see whether that answers.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from shutil import which
from typing import Any

from ricordo.agents.connection import AgentCommand

_SECONDS = 60
_ANSWER_SECONDS = 15
"""What a program may take to answer: somebody waits on a screen."""
_MAX_MESSAGE = 300
"""Characters of an error."""


def find_program(name: str, environ: Mapping[str, str]) -> str:
    """Return the path of an agent's program; "" if it is not found."""
    return which(name, path=environ.get("PATH", "")) or ""


def run_command(command: AgentCommand, environ: Mapping[str, str]) -> str:
    """Run a command of an agent; return why it failed, "" if it did not."""
    name = command.words[0]
    program = find_program(name, environ)
    if not program:
        return f"{name} was not found"
    try:
        done = subprocess.run(
            [program, *command.words[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**environ, **command.environ},
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)[:_MAX_MESSAGE]
    if not done.returncode:
        return ""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it failed"]
    # what follows the message may be a list of stack frames
    named = (line for line in lines if line.lower().startswith(("error", "fatal")))
    return next(named, lines[-1])[:_MAX_MESSAGE]


def list_hooks(
    server: AgentCommand, cwd: str, environ: Mapping[str, str], plugin: str
) -> list[dict[str, Any]] | None:
    """Return the hooks of a `plugin` as an agent's `server` lists them for the directory `cwd`;
    None if it cannot be asked.
    """
    program = find_program(server.words[0], environ)
    if not program:
        return None
    requests = (
        {"id": 0, "method": "initialize", "params": {"clientInfo": _CLIENT}},
        {"method": "initialized"},
        {"id": 1, "method": "hooks/list", "params": {"cwds": [cwd]}},
    )
    with (
        suppress(OSError),
        subprocess.Popen(
            [program, *server.words[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environ, **server.environ},
        ) as process,
    ):
        try:
            answer = _ask(process, requests)
        finally:
            process.kill()
        return None if answer is None else _list_of(answer, plugin)
    return None


_CLIENT = {"name": "ricordo", "title": "Ricordo", "version": "1"}


def _ask(process: subprocess.Popen[bytes], requests: tuple[dict[str, Any], ...]) -> Any:
    """Return the result of the last of `requests`; None without one in time."""
    from threading import Timer

    assert process.stdin is not None
    assert process.stdout is not None
    timer = Timer(_ANSWER_SECONDS, process.kill)
    timer.start()
    try:
        for request in requests:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        for line in process.stdout:
            with suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict) and message.get("id") == 1:
                    return message.get("result")
    except OSError:
        pass
    finally:
        timer.cancel()
    return None


def does_server_answer(command: Sequence[str], cwd: str, environ: Mapping[str, str]) -> bool:
    """Return whether the MCP server that a command starts in the directory `cwd` answers."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    with (
        suppress(OSError),
        subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
        ) as process,
    ):
        try:
            return _ask(process, (hello,)) is not None
        finally:
            process.kill()
    return False


def _list_of(answer: Any, plugin: str) -> list[dict[str, Any]]:
    data = answer.get("data") if isinstance(answer, dict) else None
    hooks = [
        hook
        for each in (data if isinstance(data, list) else ())
        if isinstance(each, dict)
        for hook in (each.get("hooks") or ())
        if isinstance(hook, dict)
    ]
    return [hook for hook in hooks if str(hook.get("pluginId", "")).startswith(f"{plugin}@")]
