"""The sessions that are relevant to a memory: those of its project, and their names of its
notes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ricordo.agents import codex, opencode
from ricordo.agents.claude import location as claude
from ricordo.agents.claude.folder import LONGEST_SLUG, Installation, installation, slug
from ricordo.agents.claude.transcript import project_cwds
from ricordo.agents.codex import rollout_cwd
from ricordo.agents.place import MemoryPlace
from ricordo.agents.transcripts.session import Agent, Session
from ricordo.agents.transcripts.sources import (
    TranscriptSource,
    claude_sources,
    codex_sources,
    opencode_sources,
    rollout_folders,
)
from ricordo.agents.workplace import Workplace, workplace
from ricordo.handoff.document import SourceSession
from ricordo.memory.layout import MemoryKind
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.places import SESSIONS_ASKED
from ricordo.storage.foreign_file import absolute_path


@dataclass(frozen=True, slots=True)
class Bearing:
    """Decides which sessions are relevant to one memory."""

    folders: tuple[str, ...] = ()
    """Project folders of Claude Code, all of whose sessions are relevant."""
    projects: tuple[str, ...] = ()
    """Directories: all sessions that worked in them."""
    agents: frozenset[Agent] = frozenset()
    """All sessions of these agents."""
    roots: tuple[str, ...] = ()
    """The memory's directory by all its names."""
    tails: tuple[str, ...] = ()
    """How its path ends, wherever the agent's home was at the time."""
    home: str = ""
    """The home directory, for `~`."""

    def has(self, agent: Agent, path: str, cwd: str) -> bool:
        """Return whether a session is relevant, by its agent, its transcript and its directory."""
        if agent in self.agents or any(_is_in(path, folder) for folder in self.folders):
            return True
        return cwd in self.projects or any(
            _is_in(cwd, project) for project in self.projects if self._is_single_project(project)
        )

    def _is_single_project(self, directory: str) -> bool:
        """Return whether a directory is one project: a home directory has all of them."""
        return directory != self.home and not _is_in(self.home, directory)

    def note(self, path: str) -> str:
        """Return the path in the memory of the file that an agent calls `path`; "" for any other
        file.
        """
        full_path = self.home + path[1:] if path.startswith("~/") else path
        for root in self.roots:
            if _is_in(full_path, root):
                return full_path[len(root.rstrip("/")) + 1 :]
        for tail in self.tails:
            _, found, inner = full_path.partition(tail)
            if found and inner:
                return inner
        return ""


def bearing(place: MemoryPlace, environment: Environment) -> Bearing:
    """Return the filter of the memory at `place`. Reads the newest sessions of every project, and
    asks git about their directories.
    """
    agent = installation(environment.agent_home, environment.environ)
    projects = [path for path in (environment.project, place.project) if path]
    folders: list[str] = []
    tails: list[str] = []
    agents: frozenset[Agent] = frozenset()
    match place.layout.kind:
        case MemoryKind.CODEX:
            agents, tails = frozenset((Agent.CODEX,)), ["/.codex/memories/"]
        case MemoryKind.CLAUDE_AGENT:
            tails = ["/" + "/".join(place.root.rstrip("/").split("/")[-2:]) + "/"]
            if _is_in(place.root, agent.config):
                # the sub-agent has it in all projects
                projects, agents = [], frozenset((Agent.CLAUDE,))
        case MemoryKind.CLAUDE:
            folders, worked_in = _find_own_folders(agent, place)
            projects = list(dict.fromkeys((*projects, *worked_in)))
            tails = [f"/projects/{os.path.basename(folder)}/memory/" for folder in folders]
        case _:
            pass
    roots = tuple(dict.fromkeys((place.root, os.path.realpath(place.root))))
    return Bearing(
        tuple(folders), tuple(projects), agents, roots, tuple(tails), environment.agent_home
    )


def bearing_rests_on(environment: Environment) -> tuple[tuple[str, int], ...]:
    """Return stamps that change when the filter may change: of the project folders of Claude Code
    and its settings.
    """
    agent = installation(environment.agent_home, environment.environ)
    paths = (os.path.join(agent.config, "settings.json"), *claude.project_folders(agent))
    return tuple((path, _read_mtime(path)) for path in paths)


def _read_mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def sources_of(bearing: Bearing, environment: Environment) -> Iterator[TranscriptSource]:
    """Yield the transcripts that may be relevant to a memory; where the beginning does not name the
    directory, only reading it decides.
    """
    environ, home = environment.environ, environment.agent_home
    for folder in claude.project_folders(installation(home, environ)):
        is_own = folder in bearing.folders or Agent.CLAUDE in bearing.agents
        if is_own or _may_be_relevant(bearing, folder):
            yield from claude_sources(folder)
    for source in codex_sources(codex.own_folder(home, environ)):
        cwd = rollout_cwd(source.path)
        if not cwd or bearing.has(source.agent, source.path, cwd):
            yield source
    for source in opencode_sources(opencode.data_folder(home, environ)):
        if bearing.has(source.agent, source.path, source.cwd):
            yield source


def is_kept_by_agent(source: SourceSession, environment: Environment) -> bool:
    """Return whether an agent keeps the transcript that a handoff names: one of its files by name
    and place, not a link. Only databases of opencode are opened.
    """
    path = absolute_path(source.path)
    real = os.path.realpath(path) if path and not os.path.islink(path) else ""
    return bool(real) and any(
        transcript.path == real and transcript.session in ("", source.id)
        for transcript in _list_kept(source.agent, real, environment)
    )


def _list_kept(agent: Agent, path: str, environment: Environment) -> Iterator[TranscriptSource]:
    """Yield the transcripts that an agent keeps at `path`."""
    environ, home = environment.environ, environment.agent_home
    match agent:
        case Agent.CLAUDE:
            projects = os.path.join(
                os.path.realpath(installation(home, environ).config), "projects"
            )
            if _is_in(path, projects):
                name = path[len(projects) + 1 :].partition("/")[0]
                yield from claude_sources(os.path.join(projects, name))
        case Agent.CODEX:
            folder = os.path.realpath(codex.own_folder(home, environ))
            if _is_in(path, folder):
                yield from codex_sources(folder)
        case Agent.OPENCODE:
            data = os.path.realpath(opencode.data_folder(home, environ))
            if _is_in(path, data):
                yield from opencode_sources(data)


def folders_of(bearing: Bearing, environment: Environment) -> Iterator[str]:
    """Yield the folders in which the first relevant transcript may appear."""
    environ, home = environment.environ, environment.agent_home
    yield os.path.join(installation(home, environ).config, "projects")
    yield from bearing.folders
    yield from rollout_folders(codex.own_folder(home, environ))
    yield opencode.data_folder(home, environ)


def bears(bearing: Bearing, session: Session) -> bool:
    """Return whether a session that was read is relevant to the memory."""
    return bearing.has(session.agent, session.path, session.cwd)


def _may_be_relevant(bearing: Bearing, folder: str) -> bool:
    """Return whether a project folder of Claude Code may have sessions of one of the projects: its
    name comes from their path.
    """
    name = os.path.basename(folder)
    return any(name.startswith(slug(project)[:LONGEST_SLUG]) for project in bearing.projects)


def _find_own_folders(agent: Installation, place: MemoryPlace) -> tuple[list[str], list[str]]:
    """Return the project folders of Claude Code whose sessions have this memory, and the projects
    in which they worked.
    """
    root = os.path.realpath(place.root)
    folders: list[str] = []
    worked_in: list[str] = []
    for folder in claude.project_folders(agent):
        places = [_find_workplace(cwd) for cwd in project_cwds(folder, SESSIONS_ASKED)]
        is_own = os.path.realpath(os.path.join(folder, "memory")) == root
        if is_own or any(_uses_memory(agent, place, root) for place in places):
            folders.append(folder)
            worked_in += _list_roots(places)
    return folders, list(dict.fromkeys(worked_in))


def _uses_memory(agent: Installation, place: Workplace, root: str) -> bool:
    return os.path.realpath(claude.auto_memory(agent, place).root) == root


def _find_workplace(cwd: str) -> Workplace:
    # the directory may no longer exist; then git is not asked
    return workplace(cwd) if os.path.isdir(cwd) else Workplace(cwd, cwd, cwd)


def _list_roots(places: Iterable[Workplace]) -> Iterator[str]:
    return (path for place in places for path in (place.root, place.top))


def _is_in(path: str, folder: str) -> bool:
    return bool(folder) and path.startswith(folder.rstrip("/") + "/")
