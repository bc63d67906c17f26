"""The inspector of the protocol, from npm, as a client that others wrote: part of `make soak`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.figures import figure
from tests.support.serving import environment, serve_project
from tests.unit.machine import Machine

PACKAGE = "@modelcontextprotocol/inspector"

pytestmark = pytest.mark.skipif(
    not figure("inspector", everyday=0) or shutil.which("npx") is None,
    reason="installs a package from npm: part of `make soak`",
)


def inspect(machine: Machine, project: Path, *words: str) -> Any:
    server = [sys.executable, "-m", "ricordo", "mcp", "-m", str(project)]
    done = subprocess.run(
        ["npx", "--yes", PACKAGE, "--cli", *server, *words],
        cwd=project,
        env={**environment(machine), "npm_config_cache": str(machine.path / "npm")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls_every_tool(tmp_path: Path):
    machine = Machine(tmp_path)
    project, _ = serve_project(machine)
    tools = {tool["name"] for tool in inspect(machine, project, "--method", "tools/list")["tools"]}
    note = ("name=pnpm", "description=Which", "text=Use pnpm.", "reason=said so")
    change = ("note=deploy", "change=append", "new_text=Since May.", "reason=said so")
    calls = {
        "search": ("query=database",),
        "recall": ("message=when do releases go out",),
        "read": ("note=deploy",),
        "findings": (),
        "handoff": (),
        "remember": note,
        "propose": change,
    }
    assert tools == calls.keys()
    for tool, arguments in calls.items():
        given = [word for argument in arguments for word in ("--tool-arg", argument)]
        words = ("--method", "tools/call", "--tool-name", tool, *given)
        result = inspect(machine, project, *words)
        text = result["content"][0]["text"]
        assert result.get("isError", False) is (tool == "handoff"), text
    assert inspect(machine, project, "--method", "resources/list")["resources"]
    assert inspect(machine, project, "--method", "prompts/list")["prompts"]
