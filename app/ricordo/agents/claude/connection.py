"""The plugin for Claude Code: a folder among its skills, which it loads by itself."""

from __future__ import annotations

import os
from typing import Any

from ricordo.agents.agent import Agent
from ricordo.agents.claude.folder import Installation
from ricordo.agents.connection import (
    MANIFEST,
    PLUGIN,
    Connection,
    Launcher,
    build_plugin,
    build_servers,
)

_EVENTS = {
    "SessionStart": ("start",),
    "UserPromptSubmit": ("prompt",),
    "PostToolUse": ("wrote", "Write|Edit|MultiEdit|NotebookEdit"),
    "PostCompact": ("compact",),
    "Stop": ("stop",),
    "SessionEnd": ("end",),
}


def build_connection(agent: Agent, claude: Installation, launcher: Launcher) -> Connection:
    """Return what connects Claude Code."""
    root = os.path.join(claude.config, "skills", PLUGIN)
    documents: dict[str, Any] = {os.path.join(".claude-plugin", "plugin.json"): MANIFEST}
    if launcher.has_mcp:
        documents[".mcp.json"] = build_servers(root)
    files = build_plugin(agent, root, launcher, _EVENTS, documents)
    advice = "New sessions load it; in a running one, /reload-plugins does."
    return Connection(agent, claude.config, root, files, advice=(advice,))
