"""Hostile clients of `ricordo mcp`: whatever they send, it answers in JSON, gives nothing that it
must not, and goes on.
"""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from tests.support.figures import figure
from tests.support.serving import SECRET, ServerProcess, serve_project
from tests.unit.machine import Machine

pytestmark = pytest.mark.faults

TOOLS = {
    "search": ("query", "cursor"),
    "recall": ("message",),
    "read": ("note", "cursor"),
    "findings": ("note", "cursor"),
    "handoff": ("cursor",),
    "remember": ("name", "description", "text", "reason", "type", "quote"),
    "propose": ("note", "change", "reason", "old_text", "new_text", "quote"),
    "burn": (),
}
OPTIONAL = ("cursor", "type", "quote")
NAMES = tuple(dict.fromkeys(name for names in TOOLS.values() for name in names))
NOTES = ("deploy", "database.md", "access", "orders", "append", "replace", "retire")
"""Names of notes, and of changes: with them a request is nearly valid."""
METHODS = (
    *("tools/call", "tools/list", "resources/read", "resources/list", "prompts/get", "ping"),
    *("initialize", "logging/setLevel", "completion/complete", "notifications/cancelled", "burn"),
)
TEXTS = (
    *("", " ", "access", "orders.md", "database", SECRET, "../../../etc/passwd", "/etc/passwd"),
    *("..\\..\\x", "%2e%2e/x", "file:///etc/passwd", "note\0", "-1", "0", "1e309", "null", "[[x]]"),
    *("ricordo://note/../../x", "ricordo://note/%00", "ricordo://index?x", "~", "$(id)", "`id`"),
    *("<system-reminder>", "\u202e", "\x1b[31m", "\ud800", "\udfff\ud800", "é" * 500, "(" * 300),
    *("type:", "after:9999-99-99", '"', "OR", "-x", ">note", "<note", "is:protected has:secret"),
    *("12.0123456789ab", "-12.0123456789ab", "999999999.0123456789ab", "x" * 30_000),
)


def hostile_value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(9 if depth < 3 else 6)
    if kind < 4:
        return chance.choice(TEXTS)
    if kind == 4:
        return chance.choice((None, True, -1, 0, 2**70, -(2**63), 1e308, 0.5))
    if kind == 5:
        return "".join(chr(chance.randrange(0x300)) for _ in range(chance.randrange(40)))
    if kind == 6:
        return [hostile_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    keys = (chance.choice((*NAMES, *TEXTS)) for _ in range(chance.randrange(4)))
    return {key: hostile_value(chance, depth + 1) for key in keys}


def hostile_request(chance: random.Random, id: str) -> dict[str, Any]:
    method = chance.choice(METHODS)
    if chance.random() < 0.7:
        tool = chance.choice(tuple(TOOLS))
        is_odd = chance.random() < 0.2
        names: Sequence[str] = TOOLS[tool]
        if is_odd:
            names = [chance.choice(NAMES) for _ in range(chance.randrange(6))]
        names = [name for name in names if name not in OPTIONAL or chance.random() < 0.3]
        choices = (*TEXTS, *NOTES, *NOTES, *NOTES)
        arguments = {
            name: hostile_value(chance) if is_odd else chance.choice(choices) for name in names
        }
        params: Any = {"name": tool, "arguments": arguments}
        method = "tools/call"
    elif chance.random() < 0.5:
        params = {"uri": chance.choice(TEXTS), "name": chance.choice(TEXTS)}
    else:
        params = hostile_value(chance)
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def damage(chance: random.Random, line: bytes) -> bytes:
    """Return a line that is hardly JSON any more, without a line end."""
    kind = chance.randrange(6)
    if kind == 0:
        return line[: chance.randrange(len(line))]
    if kind == 1:
        at = chance.randrange(len(line))
        return line[:at] + bytes([chance.choice((0, 0x80, 0xFF, 0x22, 0x7B))]) + line[at:]
    if kind == 2:
        return b"[" * chance.randrange(1, 50_000)
    if kind == 3:
        return b"[" + line + b"]"
    if kind == 4:
        return line.replace(b'"jsonrpc": "2.0"', b'"jsonrpc": "1.0"')
    return bytes(chance.randrange(256) for _ in range(200)).replace(b"\n", b" ")


def is_request(raw: bytes) -> bool:
    """Say whether a line has to be answered by its id."""
    try:
        message = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and "method" in message and message.get("jsonrpc") == "2.0"


@pytest.mark.parametrize("seed", [1, 2])
def test_hostile_requests_are_answered_and_give_nothing_away(tmp_path: Path, seed: int):
    machine = Machine(tmp_path)
    project, root = serve_project(machine)
    before = {path.name: path.read_bytes() for path in root.iterdir()}
    server = ServerProcess(machine, project).begin()
    chance = random.Random(seed)
    wanted: list[str] = []
    for number in range(figure("hostile_requests", everyday=80)):
        id = f"h{number}"
        raw = json.dumps(hostile_request(chance, id)).encode()
        is_damaged = chance.random() < 0.25
        raw = damage(chance, raw) if is_damaged else raw
        server.send(raw)
        if not is_damaged:
            wanted.append(id)
        assert "result" in server.ask("ping", {})
    assert server.call("read", note="deploy")["path"] == "deploy.md"
    # a slow answer, such as that of `findings`, comes after later ones; the end would cancel it
    answered = {json.loads(line).get("id") for line in server.lines}
    patience = Timer(120, server.process.kill)
    patience.start()
    while not answered.issuperset(wanted):
        answered.add(server.read().get("id"))
    patience.cancel()
    code, errors = server.end()
    assert code == 0, errors
    assert b"Traceback" not in errors
    for line in server.lines:
        json.loads(line)
    said = b"".join(server.lines)
    assert b"attached script" not in said
    # only where the client itself said it
    leaked = [line for line in server.lines if f"password={SECRET}".encode() in line]
    assert leaked == []
    assert {path.name: path.read_bytes() for path in root.iterdir()} == before


def test_a_message_of_any_length_is_refused(tmp_path: Path):
    machine = Machine(tmp_path)
    project, _ = serve_project(machine)
    server = ServerProcess(machine, project).begin()
    server.send(b'{"jsonrpc":"2.0","id":"long","method":"' + b"x" * 9_000_000 + b'"}')
    assert "too long" in server.read()["error"]["message"]
    assert server.call("read", note="deploy")["path"] == "deploy.md"
    assert server.end()[0] == 0


def test_an_interruption_ends_it(tmp_path: Path):
    machine = Machine(tmp_path)
    project, _ = serve_project(machine)
    for number in (signal.SIGINT, signal.SIGTERM):
        server = ServerProcess(machine, project).begin()
        os.kill(server.process.pid, number)
        assert server.process.wait(timeout=20) == -number
        server.end()


def test_a_state_that_cannot_be_written_still_reads(tmp_path: Path):
    machine = Machine(tmp_path)
    project, _ = serve_project(machine)
    (machine.path / "state").write_text("a file")
    server = ServerProcess(machine, project).begin()
    assert server.call("search", query="releases tuesdays")["notes"]
    note = {"name": "a", "description": "b", "text": "c", "reason": "d"}
    assert "Nothing" not in server.call("remember", **note)
    assert server.end()[0] == 0
