"""The plugin for Codex: a folder that is a marketplace with one plugin, which Codex installs.

Codex runs a hook only after the user has trusted its command line in `/hooks`.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from ricordo.agents.agent import Agent
from ricordo.agents.connection import (
    DESCRIPTION,
    LAUNCHER,
    PLUGIN,
    VERSION,
    AgentCommand,
    ConnectedFile,
    Connection,
    Launcher,
    build_hooks,
    build_servers,
    render_json,
)
from ricordo.resources import read_data_text

_EVENTS = {
    "SessionStart": ("start",),
    "UserPromptSubmit": ("prompt",),
    "PostToolUse": ("wrote", "apply_patch|Write|Edit"),
    "PostCompact": ("compact",),
    "Stop": ("stop",),
    "SessionEnd": ("end",),
}
_NAME = f"{PLUGIN}@{PLUGIN}"


def build_connection(agent: Agent, home: str, launcher: Launcher) -> Connection:
    """Return what connects the Codex with the folder `home`."""
    root = os.path.join(home, PLUGIN)

    def command(*words: str) -> AgentCommand:
        return AgentCommand(("codex", "plugin", *words), {"CODEX_HOME": home})

    return Connection(
        agent,
        home,
        root,
        tuple(_list_files(agent, root, launcher)),
        (command("marketplace", "add", root), command("add", _NAME)),
        (command("remove", _NAME), command("marketplace", "remove", PLUGIN)),
        AgentCommand(("codex", "app-server"), {"CODEX_HOME": home}),
        "type /hooks in Codex",
        ("Codex skips hooks until you trust them: type /hooks in Codex and trust Ricordo's.",),
    )


def _list_files(agent: Agent, root: str, launcher: Launcher) -> Iterator[ConnectedFile]:
    program = os.path.join(root, LAUNCHER)
    manifest = {
        "name": PLUGIN,
        "version": VERSION,
        "description": DESCRIPTION,
        "skills": "./skills",
        "hooks": "./hooks/hooks.json",
    }
    marketplace = {
        "name": PLUGIN,
        "interface": {"displayName": "Ricordo"},
        "plugins": [
            {
                "name": PLUGIN,
                "source": {"source": "local", "path": "./"},
                "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                "category": "Productivity",
            }
        ],
    }
    yield ConnectedFile(program, launcher.render(agent).encode(), is_program=True)
    yield ConnectedFile(
        os.path.join(root, ".agents", "plugins", "marketplace.json"), render_json(marketplace)
    )
    yield ConnectedFile(os.path.join(root, "hooks", "hooks.json"), build_hooks(program, _EVENTS))
    skill = read_data_text("agents/notes_skill.md").replace("@LAUNCHER@", shlex.quote(program))
    yield ConnectedFile(os.path.join(root, "skills", "notes", "SKILL.md"), skill.encode())
    if launcher.has_mcp:
        manifest["mcpServers"] = "./.mcp.json"
        servers = render_json({"mcpServers": build_servers(program)})
        yield ConnectedFile(os.path.join(root, ".mcp.json"), servers)
    yield ConnectedFile(os.path.join(root, ".codex-plugin", "plugin.json"), render_json(manifest))
