"""The places where memories may be: of one workplace, of one directory, of the whole machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ricordo import git
from ricordo.activity.claude import project_cwds
from ricordo.agents import claude, codex, folder, letta, wiki
from ricordo.agents.claude_settings import Installation, installation
from ricordo.agents.kinds import recognise
from ricordo.agents.place import Place
from ricordo.agents.workplace import Workplace, workplace
from ricordo.memory.layout import Kind, Layout
from ricordo.notebook.surroundings import Surroundings

SESSIONS_ASKED = 3
"""How many sessions of a project, the newest ones, are asked where they worked."""


def existing(places: Iterable[Place]) -> list[Place]:
    """Return the `places` that are there, each directory once and by its real path."""
    found: dict[str, Place] = {}
    for place in places:
        if os.path.isdir(place.root):
            root = os.path.realpath(place.root)
            found.setdefault(root, replace(place, root=root))
    return list(found.values())


def places_of(surroundings: Surroundings, here: Workplace) -> list[Place]:
    """Return all that a workplace's memory may be, there or not, most likely first: Claude Code's,
    Codex's, the project's own, those of its sub-agents.
    """
    agent = _claude_code(surroundings)
    projects = tuple(dict.fromkeys((here.directory, here.top)))
    return [
        *_auto_memories(agent, here),
        codex.memory(surroundings.agent_home, surroundings.environ),
        *(place for project in projects for place in _kept_in(project)),
        *claude.project_agent_memories(projects),
    ]


def places_everywhere(surroundings: Surroundings) -> list[Place]:
    """Return all that may be a memory on this machine: of every project in which Claude Code was
    ever seen to work and of the one here, of its sub-agents, of Codex and of Letta.
    """
    agent, home = _claude_code(surroundings), surroundings.agent_home
    cwds = _seen_cwds(claude.project_folders(agent))
    seen = {cwd for of_folder in cwds.values() for cwd in of_folder}
    there = sorted(cwd for cwd in (*seen, surroundings.cwd) if os.path.isdir(cwd))
    projects = dict.fromkeys(workplace(cwd).root for cwd in there)
    return [
        *(claude.auto_memory(agent, workplace(project)) for project in projects),
        *claude.folder_memories(cwds, [*_with_wider(seen), *projects]),
        *claude.agent_memories(agent),
        *claude.project_agent_memories(projects),
        codex.memory(home, surroundings.environ),
        *letta.memories(home),
        *(place for project in projects for place in _kept_in(project)),
    ]


def itself(directory: str) -> Place:
    """Return `directory` as the memory that it is, or for the pages of a wiki the whole wiki."""
    root = wiki.whole_wiki(os.path.realpath(directory))
    layout = recognise(root)
    return Place(root, layout, _project_of(root, layout), "the directory itself")


def _claude_code(surroundings: Surroundings) -> Installation:
    return installation(surroundings.agent_home, surroundings.environ)


def _auto_memories(agent: Installation, here: Workplace) -> Iterator[Place]:
    """The memory that Claude Code's rules name; only where it is missing, what else it may be."""
    memory = claude.auto_memory(agent, here)
    yield memory
    if os.path.isdir(memory.root):
        return
    for path in (*here.all, *_above(agent, here)):
        other = claude.auto_memory(agent, Workplace(path, path, path))
        if os.path.isdir(other.root):
            yield other
    yield from claude.confirmed_memories(here, _seen_cwds(claude.project_folders(agent)))


def _above(agent: Installation, here: Workplace) -> list[str]:
    """The directories above one that is in no repository, up to the home and without it."""
    if git.top_level(here.directory):
        return []
    home = os.path.realpath(agent.home)
    return [path for path in _wider(here.directory) if path not in (home, *_wider(home))]


def _seen_cwds(folders: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    return {path: project_cwds(path, SESSIONS_ASKED) for path in folders}


def _kept_in(project: str) -> list[Place]:
    """The wikis of a project and its memory folder."""
    root = os.path.join(project, folder.PROJECT_FOLDER)
    found = wiki.in_project(project)
    if folder.holds_notes(root):
        found.append(Place(root, recognise(root), project, "the memory folder of the project"))
    return found


def _project_of(root: str, layout: Layout) -> str:
    """The project of a memory that was named by its path; "" where it cannot be told."""
    above = os.path.dirname(root)
    match layout.kind:
        case Kind.CODEX | Kind.LETTA:
            return ""
        case Kind.CLAUDE if os.path.basename(os.path.dirname(above)) == "projects":
            cwds = _seen_cwds([above])
            roots = (workplace(cwd).root for cwd in cwds[above])
            return claude.folder_memories(cwds, [*_with_wider(cwds[above]), *roots])[0].project
        case Kind.CLAUDE_AGENT:
            # <project>/.claude/agent-memory/<agent>
            return git.top_level(above) or ""
        case Kind.WIKI:
            return git.top_level(root) or root
        case _:
            return git.top_level(root) or ""


def _with_wider(paths: Iterable[str]) -> list[str]:
    """Return the paths and the directories above them, wider ones first."""
    return sorted({wide for path in paths for wide in (path, *_wider(path))})


def _wider(path: str) -> list[str]:
    """The directories above `path`, the nearest first."""
    found = []
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        found.append(path)
    return found
