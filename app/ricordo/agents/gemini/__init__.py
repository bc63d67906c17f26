"""Gemini CLI, as an agent that is connected and for which handoffs are written.

Its memories and sessions are not read. `handoff.toml` has the headings that it knows, and the line
for `GEMINI.md` that makes it read a handoff.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ricordo.agents.agent import Agent
from ricordo.agents.support import AgentSupport

if TYPE_CHECKING:
    from ricordo.agents.connection import Connection, Launcher

_EVENTS = {
    "SessionStart": ("start",),
    "BeforeAgent": ("prompt",),
    "AfterTool": ("wrote", "write_file|replace"),
    "PreCompress": ("compact",),
    "AfterAgent": ("stop",),
    "SessionEnd": ("end",),
}
_MILLISECONDS = 1000


class GeminiSupport(AgentSupport):
    """Gemini CLI."""

    agent = Agent("gemini", "Gemini CLI")
    takes_handoffs = True
    instruction_files = ("GEMINI",)

    def connection(self, home: str, environ: Mapping[str, str], launcher: Launcher) -> Connection:
        """A folder among its extensions."""
        from ricordo.agents import connection as parts

        folder = os.path.join(home, ".gemini")
        root = os.path.join(folder, "extensions", parts.PLUGIN)
        servers = parts.build_servers(root) if launcher.has_mcp else {}
        documents = {"gemini-extension.json": {**parts.MANIFEST, **servers}}
        files = parts.build_plugin(self.agent, root, launcher, _EVENTS, documents, _MILLISECONDS)
        return parts.Connection(self.agent, folder, root, files, advice=("New sessions load it.",))


GEMINI = GeminiSupport()
