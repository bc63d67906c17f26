"""Claude Code: which memory it has for a workplace, and which sessions are relevant to one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ricordo import git
from ricordo.agents.agent import MemoryPlace
from ricordo.agents.claude import location
from ricordo.agents.claude.folder import (
    LONGEST_SLUG,
    UNKNOWN_HASH,
    Installation,
    find_installation,
    make_slug,
)
from ricordo.agents.claude.location import (
    AGENT,
    AUTO_MEMORY,
    FOLDER_OF_OTHERS,
    FOLDER_OF_PROJECT,
    FOLDER_OF_SUB_AGENT,
    SUB_AGENT_MEMORY,
    SUB_AGENTS,
)
from ricordo.agents.support import AgentSupport, LayoutMark, Survey
from ricordo.agents.transcripts.sources import (
    SessionFilter,
    TranscriptSource,
    find_line_files,
    is_inside,
)
from ricordo.agents.workplace import Workplace, find_workplace
from ricordo.memory.layout import Layout
from ricordo.storage.foreign_file import list_subfolders

if TYPE_CHECKING:
    from ricordo.agents.connection import Connection, Launcher
    from ricordo.agents.diagnosis import (
        BrokenFile,
        ConfiguredHook,
        ConfiguredServer,
        HookRun,
        MemorySource,
        NamedFile,
        PathHolder,
        ProjectFolder,
        RepositoryRecord,
        SettingInEffect,
    )
    from ricordo.agents.transcripts.reader import MakeReader


NEWEST_SESSIONS = 3
"""How many sessions of a project, the newest ones, are asked where they worked."""


def find_transcripts(folder: str) -> Iterator[TranscriptSource]:
    """Yield the transcripts in a project folder, those of sub-agents too."""
    yield from find_line_files(AGENT, folder)
    for session in list_subfolders(folder):
        yield from find_line_files(AGENT, os.path.join(session, SUB_AGENTS))


_EVENTS = {
    "SessionStart": ("start",),
    "UserPromptSubmit": ("prompt",),
    "PostToolUse": ("wrote", "Write|Edit|MultiEdit|NotebookEdit"),
    "PostCompact": ("compact",),
    "Stop": ("stop",),
    "SessionEnd": ("end",),
}
"""The words after `ricordo hook`, and the tools, by event of Claude Code."""


class ClaudeSupport(AgentSupport):
    """Claude Code."""

    agent = AGENT
    layouts = (
        AUTO_MEMORY,
        FOLDER_OF_PROJECT,
        FOLDER_OF_OTHERS,
        SUB_AGENT_MEMORY,
        FOLDER_OF_SUB_AGENT,
    )
    marks = (
        LayoutMark(81, location.is_opened_by_sub_agent, FOLDER_OF_SUB_AGENT),
        LayoutMark(80, location.is_in_agent_folder, SUB_AGENT_MEMORY),
        LayoutMark(77, location.is_read_by_others, FOLDER_OF_OTHERS),
        LayoutMark(76, location.is_read_as_files, FOLDER_OF_PROJECT),
        LayoutMark(75, location.has_index, AUTO_MEMORY),
        LayoutMark(70, location.has_folder_name, AUTO_MEMORY),
        LayoutMark(20, location.has_frontmatter, AUTO_MEMORY),
    )
    has_transcripts = True
    takes_handoffs = True
    instruction_files = ("CLAUDE",)
    project_folder = ".claude"
    worktree_folder = ".claude/worktrees"
    project_variable = "CLAUDE_PROJECT_DIR"
    session_variable = "CLAUDE_CODE_SESSION_ID"

    def connection(self, home: str, environ: Mapping[str, str], launcher: Launcher) -> Connection:
        from ricordo.agents.connection import (
            MANIFEST,
            PLUGIN,
            Connection,
            build_plugin,
            build_servers,
        )

        config = find_installation(home, environ).config
        root = os.path.join(config, "skills", PLUGIN)
        documents: dict[str, Any] = {os.path.join(".claude-plugin", "plugin.json"): MANIFEST}
        if launcher.has_mcp:
            documents[".mcp.json"] = build_servers(root)
        files = build_plugin(AGENT, root, launcher, _EVENTS, documents)
        advice = "New sessions load it; in a running one, /reload-plugins does."
        return Connection(AGENT, config, root, files, advice=(advice,))

    def memories_at(
        self, here: Workplace, home: str, environ: Mapping[str, str]
    ) -> Iterator[MemoryPlace]:
        """The memory that its rules name; only where it is missing, what else it may be."""
        claude = find_installation(home, environ)
        memory = location.find_auto_memory(claude, here)
        yield memory
        if os.path.isdir(memory.root):
            return
        for path in (*here.all_directories, *_above(claude, here)):
            other = location.find_auto_memory(claude, Workplace(path, path, path))
            if os.path.isdir(other.root):
                yield other
        yield from location.find_confirmed_memories(
            here, _seen_cwds(location.list_project_folders(claude))
        )

    def sub_agent_memories(self, projects: Iterable[str]) -> list[MemoryPlace]:
        return location.find_project_sub_agent_memories(projects)

    def survey(self, home: str, environ: Mapping[str, str]) -> Survey:
        claude = find_installation(home, environ)
        cwds = _seen_cwds(location.list_project_folders(claude))
        seen = frozenset(cwd for of_folder in cwds.values() for cwd in of_folder)

        def memories(projects: Sequence[str]) -> list[MemoryPlace]:
            return [
                *(
                    location.find_auto_memory(claude, find_workplace(project))
                    for project in projects
                ),
                *location.find_folder_memories(cwds, [*_with_wider(seen), *projects]),
                *location.find_sub_agent_memories(claude),
                *location.find_project_sub_agent_memories(projects),
            ]

        return Survey(seen, memories)

    def project_of(self, root: str, layout: Layout) -> str:
        above = os.path.dirname(root)
        if layout.is_of_sub_agent:
            # <project>/.claude/agent-memory/<agent>
            return git.find_top_level(above) or ""
        if os.path.basename(os.path.dirname(above)) != "projects":
            return git.find_top_level(root) or ""
        cwds = _seen_cwds([above])
        roots = (find_workplace(cwd).root for cwd in cwds[above])
        return location.find_folder_memories(cwds, [*_with_wider(cwds[above]), *roots])[0].project

    def project_folders(self, home: str, environ: Mapping[str, str]) -> list[ProjectFolder]:
        from ricordo.agents.claude import diagnosis

        return diagnosis.find_project_folders(find_installation(home, environ))

    def known_projects(self, home: str, environ: Mapping[str, str]) -> list[str]:
        from ricordo.agents.claude import diagnosis

        return diagnosis.find_projects(find_installation(home, environ))

    def memory_sources(
        self, here: Workplace, home: str, environ: Mapping[str, str]
    ) -> list[MemorySource]:
        from ricordo.agents.claude import diagnosis

        return diagnosis.find_memory_sources(find_installation(home, environ), here)

    def settings_in_effect(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[SettingInEffect]:
        from ricordo.agents.claude import diagnosis

        return diagnosis.find_settings_in_effect(find_installation(home, environ), places)

    def has_known_name(self, memory: str) -> bool:
        return not os.path.dirname(memory).endswith(UNKNOWN_HASH)

    def memory_switch(
        self, here: Workplace, home: str, environ: Mapping[str, str]
    ) -> SettingInEffect | None:
        from ricordo.agents.claude import diagnosis

        return diagnosis.find_memory_switch(find_installation(home, environ), here)

    def hooks(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[ConfiguredHook]:
        from ricordo.agents.claude import diagnosis

        return diagnosis.find_hooks(find_installation(home, environ), places)

    def hook_runs(self, transcript: str) -> Iterator[HookRun]:
        from ricordo.agents.claude import diagnosis

        return diagnosis.read_hook_runs(transcript)

    def servers(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[ConfiguredServer]:
        from ricordo.agents.claude import diagnosis

        return diagnosis.find_servers(find_installation(home, environ), places)

    def broken_settings(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[BrokenFile]:
        from ricordo.agents.claude import diagnosis

        return diagnosis.find_broken_settings(find_installation(home, environ), places)

    def instruction_paths(self, home: str, environ: Mapping[str, str]) -> list[NamedFile]:
        from ricordo.agents.diagnosis import find_broken_link

        config = find_installation(home, environ).config
        return list(find_broken_link(os.path.join(config, "CLAUDE.md")))

    def repository_records(self, home: str, environ: Mapping[str, str]) -> list[RepositoryRecord]:
        from ricordo.agents.claude import diagnosis

        return diagnosis.find_repository_records(find_installation(home, environ))

    def path_holders(self, project: str, home: str, environ: Mapping[str, str]) -> list[PathHolder]:
        from ricordo.agents.claude import diagnosis

        return diagnosis.find_path_holders(find_installation(home, environ), project)

    def session_filter(
        self, place: MemoryPlace, projects: Sequence[str], home: str, environ: Mapping[str, str]
    ) -> SessionFilter:
        """Looks into the newest sessions of every project, and asks git where they worked."""
        claude = find_installation(home, environ)
        if place.layout.is_of_sub_agent:
            tails = ("/" + "/".join(place.root.rstrip("/").split("/")[-2:]) + "/",)
            if is_inside(place.root, claude.config):
                # the sub-agent has it in all projects
                return SessionFilter(agents=frozenset((AGENT,)), root_endings=tails)
            return SessionFilter(projects=tuple(projects), root_endings=tails)
        folders, worked = _own_folders(claude, place)
        return SessionFilter(
            folders=tuple(folders),
            projects=tuple(dict.fromkeys((*projects, *worked))),
            root_endings=tuple(
                f"/projects/{os.path.basename(folder)}/memory/" for folder in folders
            ),
        )

    def scope_files(self, home: str, environ: Mapping[str, str]) -> list[str]:
        claude = find_installation(home, environ)
        return [
            os.path.join(claude.config, "settings.json"),
            *location.list_project_folders(claude),
        ]

    def transcripts(
        self, scope: SessionFilter, home: str, environ: Mapping[str, str]
    ) -> Iterator[TranscriptSource]:
        for folder in location.list_project_folders(find_installation(home, environ)):
            if folder in scope.folders or AGENT in scope.agents or _may_be_in(scope, folder):
                yield from find_transcripts(folder)

    def transcripts_near(
        self, path: str, home: str, environ: Mapping[str, str]
    ) -> Iterator[TranscriptSource]:
        projects = os.path.join(
            os.path.realpath(find_installation(home, environ).config), "projects"
        )
        if is_inside(path, projects):
            name = path[len(projects) + 1 :].partition("/")[0]
            yield from find_transcripts(os.path.join(projects, name))

    def transcript_folders(self, home: str, environ: Mapping[str, str]) -> list[str]:
        return [os.path.join(find_installation(home, environ).config, "projects")]

    def sub_agent_transcripts(self, source: TranscriptSource) -> Iterator[TranscriptSource]:
        """They are in a folder that is called after the session."""
        yield from find_line_files(
            AGENT, os.path.join(os.path.splitext(source.path)[0], SUB_AGENTS)
        )

    def is_transcript(self, path: str) -> bool:
        """The lines have no mark of their own: any that no other agent claims may be its."""
        return True

    def get_line_reader(self) -> MakeReader:
        from ricordo.agents.claude.transcript import ClaudeReader

        return ClaudeReader


def _above(claude: Installation, here: Workplace) -> list[str]:
    """Return the directories above one that is in no repository, up to the home and without it."""
    if git.find_top_level(here.directory):
        return []
    home = os.path.realpath(claude.home)
    return [path for path in _wider(here.directory) if path not in (home, *_wider(home))]


def _seen_cwds(folders: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return where the newest sessions of each folder worked."""
    from ricordo.agents.claude.transcript import read_project_cwds

    return {path: read_project_cwds(path, NEWEST_SESSIONS) for path in folders}


def _with_wider(paths: Iterable[str]) -> list[str]:
    """Return the paths and the directories above them, wider ones first."""
    return sorted({wide for path in paths for wide in (path, *_wider(path))})


def _wider(path: str) -> list[str]:
    """Return the directories above `path`, the nearest first."""
    wider = []
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        wider.append(path)
    return wider


def _may_be_in(scope: SessionFilter, folder: str) -> bool:
    """Whether a project folder may hold sessions that worked in one of the projects: its name is
    made of their path.
    """
    name = os.path.basename(folder)
    return any(name.startswith(make_slug(project)[:LONGEST_SLUG]) for project in scope.projects)


def _own_folders(claude: Installation, place: MemoryPlace) -> tuple[list[str], list[str]]:
    """Return the project folders whose sessions have this memory, and the projects in which they
    worked.
    """
    root = os.path.realpath(place.root)
    folders: list[str] = []
    worked: list[str] = []
    for folder in location.list_project_folders(claude):
        places = [_workplace_of(cwd) for cwd in _seen_cwds([folder])[folder]]
        is_own = os.path.realpath(os.path.join(folder, "memory")) == root
        if is_own or any(_has_memory(claude, place, root) for place in places):
            folders.append(folder)
            worked += (path for place in places for path in (place.root, place.top))
    return folders, list(dict.fromkeys(worked))


def _has_memory(claude: Installation, here: Workplace, root: str) -> bool:
    return os.path.realpath(location.find_auto_memory(claude, here).root) == root


def _workplace_of(cwd: str) -> Workplace:
    # the directory may be gone; then nothing asks git
    return find_workplace(cwd) if os.path.isdir(cwd) else Workplace(cwd, cwd, cwd)


CLAUDE = ClaudeSupport()
