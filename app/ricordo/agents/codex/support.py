"""Codex: where its memories and rollouts are, and how its memory is laid out.

Codex rewrites its memories when it consolidates them, so they are read-only here. A session gets
`memory_summary.md` whole, and nothing else. A rollout is one JSON object a line; `transcript.py`
reads also the early form, whose lines have no envelope.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.codex import AGENT
from ricordo.agents.support import AgentSupport, LayoutMark, Survey
from ricordo.agents.transcripts.sources import (
    FIRST_LINES,
    SessionFilter,
    TranscriptSource,
    find_line_files,
    is_inside,
)
from ricordo.agents.workplace import Workplace
from ricordo.memory.layout import Layout
from ricordo.storage.foreign_file import list_subfolders, read_plain_file

if TYPE_CHECKING:
    from ricordo.agents.connection import Connection, Launcher
    from ricordo.agents.diagnosis import (
        BrokenFile,
        ConfiguredHook,
        ConfiguredServer,
        NamedFile,
        PathHolder,
        RepositoryRecord,
    )
    from ricordo.agents.transcripts.reader import MakeReader

SUMMARY = "memory_summary.md"
"""The only file that a session is given, whole."""
SUMMARY_FOLDER = "rollout_summaries"

MEMORIES = Layout(
    kind=AGENT.name,
    agent=AGENT.shown,
    index_names=frozenset((SUMMARY,)),
    support_names=frozenset(
        ("raw_memories.md", "phase2_workspace_diff.md", "instructions.md", "skill.md")
    ),
    source_folder=SUMMARY_FOLDER,
    read_only="Codex rewrites these files whenever it consolidates its memories.",
    keeps_own_list=True,
    is_shared=True,
    given_to=AGENT.name,
    recall_rank=5,
)

_FIRST_LINE = b"v1"
_FOLDERS = ("sessions", "archived_sessions")
_DEEPEST = 6
"""Levels of folders below those; the year, the month and the day are three."""
_FIRST_PART = 64 * 1024
"""Bytes; a first line that is longer is not judged by what it holds."""
_OF_ROLLOUTS = frozenset(("payload", "record_type", "role"))
"""Names that only the lines of rollouts have."""


def find_memory(home: str, environ: Mapping[str, str]) -> MemoryPlace:
    """Return the memory that Codex keeps in `CODEX_HOME`, else in `home`, there or not."""
    moved = environ.get("CODEX_HOME", "")
    why = "the memories folder in CODEX_HOME" if moved else "the memories folder of Codex"
    return MemoryPlace(os.path.join(find_home(home, environ), "memories"), MEMORIES, "", why)


def find_home(home: str, environ: Mapping[str, str]) -> str:
    """Return the folder of Codex: `CODEX_HOME`, else the one in `home`, there or not."""
    return os.path.join(home, environ.get("CODEX_HOME", "") or ".codex")


def is_memory(root: str, names: frozenset[str]) -> bool:
    """Say whether the directory `root` with these `names` in it holds Codex memories."""
    if f"{SUMMARY_FOLDER}/" in names:
        return True
    if SUMMARY not in names:
        return False
    start = read_plain_file(os.path.join(root, SUMMARY), len(_FIRST_LINE) + 2) or b""
    return start.split(b"\n")[0].rstrip(b"\r") == _FIRST_LINE


def find_rollouts(home: str) -> Iterator[TranscriptSource]:
    """Yield the rollouts in the folder of Codex."""
    for folder in list_rollout_folders(home):
        yield from _find_below(folder, _DEEPEST)


def list_rollout_folders(home: str) -> list[str]:
    """Return where Codex, whose folder is `home`, keeps its rollouts, by year, month and day."""
    return [os.path.join(home, name) for name in _FOLDERS]


def is_rollout(path: str) -> bool:
    """Say whether a file of lines is a rollout: by its name or its first lines."""
    from ricordo.agents.transcripts.lines import parse_object

    if os.path.basename(path).startswith("rollout-"):
        return True
    raw = read_plain_file(path, _FIRST_PART) or b""
    for line in raw.split(b"\n")[:FIRST_LINES]:
        entry = parse_object(line)
        if entry is not None and not _OF_ROLLOUTS.isdisjoint(entry):
            return True
    return False


def _find_below(folder: str, levels: int) -> Iterator[TranscriptSource]:
    yield from find_line_files(AGENT, folder)
    if levels:
        for inner in list_subfolders(folder):
            yield from _find_below(inner, levels - 1)


class CodexSupport(AgentSupport):
    """Codex."""

    agent = AGENT
    layouts = (MEMORIES,)
    # stronger than the index of Claude Code, for Codex has a MEMORY.md too
    marks = (LayoutMark(90, is_memory, MEMORIES),)
    has_transcripts = True
    takes_handoffs = True
    instruction_files = ("AGENTS",)

    def connection(self, home: str, environ: Mapping[str, str], launcher: Launcher) -> Connection:
        return _build_connection(find_home(home, environ), launcher)

    def memories_at(
        self, here: Workplace, home: str, environ: Mapping[str, str]
    ) -> Iterator[MemoryPlace]:
        yield find_memory(home, environ)

    def survey(self, home: str, environ: Mapping[str, str]) -> Survey:
        return Survey(frozenset(), lambda projects: [find_memory(home, environ)])

    def project_of(self, root: str, layout: Layout) -> str:
        return ""

    def hooks(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[ConfiguredHook]:
        from ricordo.agents.codex import diagnosis

        return list(diagnosis.find_hooks(find_home(home, environ), places))

    def servers(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[ConfiguredServer]:
        from ricordo.agents.codex import diagnosis

        return list(diagnosis.find_servers(find_home(home, environ), places))

    def broken_settings(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[BrokenFile]:
        from ricordo.agents.codex import diagnosis

        return list(diagnosis.find_broken_settings(find_home(home, environ), places))

    def instruction_paths(self, home: str, environ: Mapping[str, str]) -> list[NamedFile]:
        from ricordo.agents.diagnosis import find_broken_link

        return list(find_broken_link(os.path.join(find_home(home, environ), "AGENTS.md")))

    def repository_records(self, home: str, environ: Mapping[str, str]) -> list[RepositoryRecord]:
        from ricordo.agents.codex import diagnosis

        rollouts = find_rollouts(find_home(home, environ))
        return list(diagnosis.find_repository_records(rollouts))

    def path_holders(self, project: str, home: str, environ: Mapping[str, str]) -> list[PathHolder]:
        from ricordo.agents.codex import diagnosis

        own, memory = find_home(home, environ), find_memory(home, environ).root
        return list(diagnosis.find_path_holders(own, memory, find_rollouts(own), project))

    def session_filter(
        self, place: MemoryPlace, projects: Sequence[str], home: str, environ: Mapping[str, str]
    ) -> SessionFilter:
        return SessionFilter(
            projects=tuple(projects),
            agents=frozenset((AGENT,)),
            root_endings=("/.codex/memories/",),
        )

    def transcripts(
        self, scope: SessionFilter, home: str, environ: Mapping[str, str]
    ) -> Iterator[TranscriptSource]:
        from ricordo.agents.codex.transcript import read_rollout_cwd

        for source in find_rollouts(find_home(home, environ)):
            cwd = read_rollout_cwd(source.path)
            if not cwd or scope.matches(source.agent, source.path, cwd):
                yield source

    def transcripts_near(
        self, path: str, home: str, environ: Mapping[str, str]
    ) -> Iterator[TranscriptSource]:
        own = os.path.realpath(find_home(home, environ))
        if is_inside(path, own):
            yield from find_rollouts(own)

    def transcript_folders(self, home: str, environ: Mapping[str, str]) -> list[str]:
        return list_rollout_folders(find_home(home, environ))

    def is_transcript(self, path: str) -> bool:
        return is_rollout(path)

    def get_line_reader(self) -> MakeReader:
        from ricordo.agents.codex.transcript import CodexReader

        return CodexReader


CODEX = CodexSupport()


_EVENTS = {
    "SessionStart": ("start",),
    "UserPromptSubmit": ("prompt",),
    "PostToolUse": ("wrote", "apply_patch|Write|Edit"),
    "PostCompact": ("compact",),
    "Stop": ("stop",),
    "SessionEnd": ("end",),
}


def _build_connection(home: str, launcher: Launcher) -> Connection:
    """Return what connects the Codex with the folder `home`: a marketplace with one plugin, which
    Codex installs. It runs a hook only after the user has trusted its command line in `/hooks`.
    """
    from ricordo.agents.connection import PLUGIN, AgentCommand, Connection, build_plugin

    root = os.path.join(home, PLUGIN)
    name = f"{PLUGIN}@{PLUGIN}"

    def command(*words: str) -> AgentCommand:
        return AgentCommand(("codex", "plugin", *words), {"CODEX_HOME": home})

    return Connection(
        AGENT,
        home,
        root,
        build_plugin(AGENT, root, launcher, _EVENTS, _build_documents(root, launcher)),
        (command("marketplace", "add", root), command("add", name)),
        (command("remove", name), command("marketplace", "remove", PLUGIN)),
        AgentCommand(("codex", "app-server"), {"CODEX_HOME": home}),
        "type /hooks in Codex",
        ("Codex skips hooks until you trust them: type /hooks in Codex and trust Ricordo's.",),
    )


def _build_documents(root: str, launcher: Launcher) -> dict[str, Any]:
    """Return the manifests of the marketplace and of its plugin, and the MCP servers, by path."""
    from ricordo.agents.connection import MANIFEST, PLUGIN, build_servers

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
