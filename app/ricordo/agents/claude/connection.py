"""The plugin for Claude Code: a folder among its skills, which it loads by itself."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from ricordo.agents.agent import Agent
from ricordo.agents.claude.folder import Installation
from ricordo.agents.connection import (
    DESCRIPTION,
    LAUNCHER,
    PLUGIN,
    VERSION,
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
    "PostToolUse": ("wrote", "Write|Edit|MultiEdit|NotebookEdit"),
    "PostCompact": ("compact",),
    "Stop": ("stop",),
    "SessionEnd": ("end",),
}


def build_connection(agent: Agent, claude: Installation, launcher: Launcher) -> Connection:
    """Return what connects Claude Code."""
    root = os.path.join(claude.config, "skills", PLUGIN)
    files = tuple(_list_files(agent, root, launcher))
    advice = "New sessions load it; in a running one, /reload-plugins does."
    return Connection(agent, claude.config, root, files, advice=(advice,))


def _list_files(agent: Agent, root: str, launcher: Launcher) -> Iterator[ConnectedFile]:
    program = os.path.join(root, LAUNCHER)
    manifest = {"name": PLUGIN, "version": VERSION, "description": DESCRIPTION}
    yield ConnectedFile(program, launcher.render(agent).encode(), is_program=True)
    yield ConnectedFile(os.path.join(root, ".claude-plugin", "plugin.json"), render_json(manifest))
    yield ConnectedFile(os.path.join(root, "hooks", "hooks.json"), build_hooks(program, _EVENTS))
    skill = read_data_text("agents/notes_skill.md").replace("@LAUNCHER@", shlex.quote(program))
    yield ConnectedFile(os.path.join(root, "skills", "notes", "SKILL.md"), skill.encode())
    if launcher.has_mcp:
        servers = render_json({"mcpServers": build_servers(program)})
        yield ConnectedFile(os.path.join(root, ".mcp.json"), servers)
