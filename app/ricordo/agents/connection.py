"""How an agent is connected: the files that Ricordo writes into a folder of its own, which the
agent loads by itself, and the commands of the agent that install them.

Command lines in these files never change between versions, because an agent may trust them by their
digest. They name a small program in the folder that finds the installed Ricordo.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ricordo.agents.agent import Agent
from ricordo.resources import read_data_text

LAUNCHER = "launch.sh"
"""The name of the program in a folder."""
PLUGIN = "ricordo"
MANIFEST = {
    "name": PLUGIN,
    "version": "1.0.0",
    "description": "Gives agents the notes of a project, and says what is wrong with them.",
}
"""What the manifests of all agents say. The version is no part of what changes: agents keep a copy
by version.
"""
_HOOK_SECONDS, _END_SECONDS = 5, 1
"""What an agent waits for a hook, which ends after two seconds by itself; at the end of a session
agents wait for all hooks together.
"""


@dataclass(frozen=True, slots=True)
class Launcher:
    """The installed Ricordo that a launcher starts first."""

    python: str
    """Absolute path of the interpreter."""
    package: str
    """Absolute path of the package."""
    state: str = ""
    """The state directory; "" for the usual one."""
    has_mcp: bool = False
    """Whether this Ricordo can be an MCP server."""

    def render(self, agent: Agent) -> str:
        """Return the program that starts Ricordo for `agent`."""
        text = read_data_text("agents/launch.sh")
        values = {"AGENT": agent.name, "PYTHON": self.python, "PACKAGE": self.package}
        for name, value in {**values, "STATE": self.state}.items():
            text = text.replace(f"@{name}@", shlex.quote(value))
        return text


def read_launcher(text: str) -> Launcher | None:
    """Return the values in the `text` of a launcher; None if it has none."""
    values: dict[str, str] = {}
    for line in text.split("\n"):
        name, equals, value = line.partition("=")
        if equals and name in ("python", "package", "state") and name not in values:
            try:
                values[name] = "".join(shlex.split(value))
            except ValueError:
                return None
    if len(values) < 3:
        return None
    return Launcher(values["python"], values["package"], values["state"])


@dataclass(frozen=True, slots=True)
class ConnectedFile:
    """A file that connects an agent."""

    path: str
    """Absolute."""
    content: bytes
    is_program: bool = False


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """A command of the agent itself."""

    words: tuple[str, ...]
    environ: Mapping[str, str]
    """Variables that it needs besides those of the shell."""


@dataclass(frozen=True, slots=True)
class Connection:
    """What connects one agent."""

    agent: Agent
    home: str
    """The directory of the agent's settings; if it is missing, so is the agent."""
    root: str
    """The folder or the file that is Ricordo's own."""
    files: tuple[ConnectedFile, ...]
    commands: tuple[AgentCommand, ...] = ()
    """To be run after the files were written."""
    undo_commands: tuple[AgentCommand, ...] = ()
    """To be run before the files are removed."""
    server_command: AgentCommand | None = None
    """Starts a server that lists the hooks and says which the user trusts, by JSON-RPC; None where
    hooks need no trust.
    """
    trust_advice: str = ""
    """What the user does to trust hooks."""
    advice: tuple[str, ...] = ()
    """What the user has to do or to know, a sentence each."""

    def list_hook_commands(self) -> Iterator[str]:
        """Yield the command lines that the agent runs."""
        for file in self.files:
            if file.path.endswith("hooks.json"):
                for groups in json.loads(file.content)["hooks"].values():
                    yield from (hook["command"] for group in groups for hook in group["hooks"])


def build_plugin(
    agent: Agent,
    root: str,
    launcher: Launcher,
    events: Mapping[str, Sequence[str]],
    documents: Mapping[str, Mapping[str, Any]],
    unit: int = 1,
) -> tuple[ConnectedFile, ...]:
    """Return the files of a plugin in the folder `root`: the launcher, hooks for the `events` of
    the agent (see `_build_hooks`), a skill, and its own JSON `documents`, by path in the folder.
    """
    program = os.path.join(root, LAUNCHER)
    skill = read_data_text("agents/notes_skill.md").replace("@LAUNCHER@", shlex.quote(program))
    contents = {
        os.path.join("hooks", "hooks.json"): _build_hooks(program, events, unit),
        os.path.join("skills", "notes", "SKILL.md"): skill.encode(),
        **{path: _render_json(document) for path, document in documents.items()},
    }
    files = (ConnectedFile(os.path.join(root, path), text) for path, text in contents.items())
    return (ConnectedFile(program, launcher.render(agent).encode(), is_program=True), *files)


def _render_json(document: Mapping[str, Any]) -> bytes:
    """Return a JSON document as a file has it."""
    return f"{json.dumps(document, indent=2)}\n".encode("ascii")


def _build_hooks(launcher: str, events: Mapping[str, Sequence[str]], unit: int) -> bytes:
    """Return a file of hooks. `events` has, by the agent's name of an event, Ricordo's name and
    optionally the tools that the event is about; `launcher` is the path of the launcher, and a
    timeout of a second is `unit`.
    """
    hooks: dict[str, list[dict[str, Any]]] = {}
    for name, (event, *tools) in events.items():
        seconds = _END_SECONDS if event == "end" else _HOOK_SECONDS
        command = f"{shlex.quote(launcher)} hook {event}"
        group = {"hooks": [{"type": "command", "command": command, "timeout": seconds * unit}]}
        hooks[name] = [{"matcher": tools[0], **group} if tools else group]
    return _render_json({"hooks": hooks})


def build_servers(root: str) -> dict[str, Any]:
    """Return what names the MCP server of the plugin in the folder `root` to agents."""
    server = {"command": os.path.join(root, LAUNCHER), "args": ["mcp"]}
    return {"mcpServers": {PLUGIN: server}}
