"""The plugin for Codex: a folder that is a marketplace with one plugin, which Codex installs.

Codex runs a hook only after the user has trusted its command line in `/hooks`.
"""

from __future__ import annotations

import os
from typing import Any

from ricordo.agents.agent import Agent
from ricordo.agents.connection import (
    MANIFEST,
    PLUGIN,
    AgentCommand,
    Connection,
    Launcher,
    build_plugin,
    build_servers,
)

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
        build_plugin(agent, root, launcher, _EVENTS, _build_documents(root, launcher)),
        (command("marketplace", "add", root), command("add", _NAME)),
        (command("remove", _NAME), command("marketplace", "remove", PLUGIN)),
        AgentCommand(("codex", "app-server"), {"CODEX_HOME": home}),
        "type /hooks in Codex",
        ("Codex skips hooks until you trust them: type /hooks in Codex and trust Ricordo's.",),
    )


def _build_documents(root: str, launcher: Launcher) -> dict[str, Any]:
    """Return the manifests of the marketplace and of its plugin, and the MCP servers, by path."""
    manifest = {**MANIFEST, "skills": "./skills", "hooks": "./hooks/hooks.json"}
    plugin = {
        "name": PLUGIN,
        "source": {"source": "local", "path": "./"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    marketplace = {"name": PLUGIN, "interface": {"displayName": "Ricordo"}, "plugins": [plugin]}
    documents: dict[str, Any] = {
        os.path.join(".agents", "plugins", "marketplace.json"): marketplace
    }
    if launcher.has_mcp:
        manifest["mcpServers"] = "./.mcp.json"
        documents[".mcp.json"] = build_servers(root)
    return {**documents, os.path.join(".codex-plugin", "plugin.json"): manifest}
