"""Gemini CLI, as an agent that is connected and for which handoffs are written.

Its memories and sessions are not read. `handoff.toml` has the headings that it knows, and the line
for `GEMINI.md` that makes it read a handoff.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ricordo.agents.agent import Agent
from ricordo.agents.support import AgentSupport

if TYPE_CHECKING:
    from ricordo.agents.connection import Connection, Launcher
    from ricordo.agents.diagnosis import ConfiguredHook, ConfiguredServer, NamedFile
    from ricordo.agents.workplace import Workplace

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

    def hooks(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[ConfiguredHook]:
        """Those of its settings, whose timeouts are milliseconds."""
        from ricordo.agents.diagnosis import read_hooks, read_object

        return [
            hook
            for file in _list_settings(home, places)
            for hook in read_hooks(read_object(file), file, unit="milliseconds")
        ]

    def servers(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[ConfiguredServer]:
        """Those of its settings."""
        from ricordo.agents.diagnosis import read_object, read_servers

        own, *_ = files = _list_settings(home, places)
        return [
            server._replace(is_of_project=file != own)
            for file in files
            for server in read_servers(read_object(file), file)
        ]

    def instruction_paths(self, home: str, environ: Mapping[str, str]) -> list[NamedFile]:
        """Its own `GEMINI.md`, where that is a broken link."""
        from ricordo.agents.diagnosis import find_broken_link

        return list(find_broken_link(os.path.join(home, ".gemini", "GEMINI.md")))

    def unread_drafts(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """Those of its Auto Memory: skills and patches, which `/memory inbox` empties."""
        from ricordo.storage.foreign_file import list_subfolders

        projects = list_subfolders(os.path.join(home, ".gemini", "tmp"))
        return sorted(
            os.path.join(above, name)
            for project in projects
            for above, _, names in os.walk(os.path.join(project, "memory"))
            for name in names
            if name == "SKILL.md" or name.endswith(".patch")
        )


def _list_settings(home: str, places: Sequence[Workplace]) -> list[str]:
    """Return the settings files, the user's first."""
    folders = dict.fromkeys((home, *(it.top for it in places)))
    return [os.path.join(it, ".gemini", "settings.json") for it in folders]


GEMINI = GeminiSupport()
