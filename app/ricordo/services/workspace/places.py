"""Places where memories may be: for one workplace, one directory, the whole machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ricordo import git
from ricordo.agents import codex, folder, letta, wiki
from ricordo.agents.claude import location as claude
from ricordo.agents.claude.folder import Installation, installation
from ricordo.agents.claude.transcript import project_cwds
from ricordo.agents.folder import NO_MEMORY, holds_notes
from ricordo.agents.kinds import INDEX_NAMES, recognise
from ricordo.agents.place import MemoryPlace
from ricordo.agents.workplace import Workplace, workplace
from ricordo.errors import MemoryNotFound
from ricordo.memory.layout import Layout, MemoryKind
from ricordo.services.workspace.environment import Environment
from ricordo.storage.last_seen import recall
from ricordo.storage.reader import list_names
from ricordo.text import one_line

SESSIONS_ASKED = 3
"""Number of newest sessions of a project whose working directories are read."""


def existing(places: Iterable[MemoryPlace]) -> list[MemoryPlace]:
    """Return the `places` that exist, each directory once and by its real path."""
    by_root: dict[str, MemoryPlace] = {}
    for place in places:
        if os.path.isdir(place.root):
            root = os.path.realpath(place.root)
            by_root.setdefault(root, replace(place, root=root))
    return list(by_root.values())


def places_of(environment: Environment, here: Workplace) -> list[MemoryPlace]:
    """Return the possible memories of a workplace, existing or not, most likely first: those of
    Claude Code, Codex, the project itself and its sub-agents.
    """
    agent = _claude_code(environment)
    projects = tuple(dict.fromkeys((here.directory, here.top)))
    return [
        *_auto_memories(agent, here),
        codex.memory(environment.agent_home, environment.environ),
        *(place for project in projects for place in _in_project(project)),
        *claude.project_agent_memories(projects),
    ]


def places_everywhere(environment: Environment) -> list[MemoryPlace]:
    """Return the possible memories on this machine: of the current project and every project in
    which Claude Code worked, of its sub-agents, of Codex and of Letta.
    """
    agent, home = _claude_code(environment), environment.agent_home
    cwds = _seen_cwds(claude.project_folders(agent))
    seen = {cwd for of_folder in cwds.values() for cwd in of_folder}
    directories = sorted(cwd for cwd in (*seen, environment.cwd) if os.path.isdir(cwd))
    projects = dict.fromkeys(workplace(cwd).root for cwd in directories)
    return [
        *(claude.auto_memory(agent, workplace(project)) for project in projects),
        *claude.folder_memories(cwds, [*_with_wider(seen), *projects]),
        *claude.agent_memories(agent),
        *claude.project_agent_memories(projects),
        codex.memory(home, environment.environ),
        *letta.memories(home),
        *(place for project in projects for place in _in_project(project)),
    ]


def itself(directory: str) -> MemoryPlace:
    """Return `directory` as a memory; for the pages folder of a wiki, the whole wiki."""
    root = wiki.whole_wiki(os.path.realpath(directory))
    layout = recognise(root)
    return MemoryPlace(root, layout, _project_of(root, layout), "the directory itself")


def _claude_code(environment: Environment) -> Installation:
    return installation(environment.agent_home, environment.environ)


def _auto_memories(agent: Installation, here: Workplace) -> Iterator[MemoryPlace]:
    """Yield the memory that Claude Code's rules name; if it is missing, also the alternatives."""
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
    """Return the parent directories up to but without the home; none inside a repository."""
    if git.top_level(here.directory):
        return []
    home = os.path.realpath(agent.home)
    return [path for path in _wider(here.directory) if path not in (home, *_wider(home))]


def _seen_cwds(folders: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    return {path: project_cwds(path, SESSIONS_ASKED) for path in folders}


def _in_project(project: str) -> list[MemoryPlace]:
    """Return the wikis of a project and its memory folder."""
    root = os.path.join(project, folder.PROJECT_FOLDER)
    places = wiki.in_project(project)
    if folder.holds_notes(root):
        places.append(
            MemoryPlace(root, recognise(root), project, "the memory folder of the project")
        )
    return places


def _project_of(root: str, layout: Layout) -> str:
    """Return the project of a memory that was named by its path; "" if it is unknown."""
    above = os.path.dirname(root)
    match layout.kind:
        case MemoryKind.CODEX | MemoryKind.LETTA:
            return ""
        case MemoryKind.CLAUDE if os.path.basename(os.path.dirname(above)) == "projects":
            cwds = _seen_cwds([above])
            roots = (workplace(cwd).root for cwd in cwds[above])
            return claude.folder_memories(cwds, [*_with_wider(cwds[above]), *roots])[0].project
        case MemoryKind.CLAUDE_AGENT:
            # <project>/.claude/agent-memory/<agent>
            return git.top_level(above) or ""
        case MemoryKind.WIKI:
            return git.top_level(root) or root
        case _:
            return git.top_level(root) or ""


def _with_wider(paths: Iterable[str]) -> list[str]:
    """Return the paths and their parent directories, parents first."""
    return sorted({wide for path in paths for wide in (path, *_wider(path))})


def _wider(path: str) -> list[str]:
    """Return the parent directories of `path`, the nearest first."""
    parents = []
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        parents.append(path)
    return parents


_UNQUESTIONED = (MemoryKind.CLAUDE, MemoryKind.FOLDER)


class NoMemoryHere(MemoryNotFound):
    """No memory belongs to a directory."""

    def __init__(self, directory: str, looked: Sequence[MemoryPlace]) -> None:
        """`looked` are the places that were searched."""
        searched = ", ".join(one_line(place.root) for place in looked)
        super().__init__(f"No memory found for {one_line(directory)}. Searched: {searched}.")
        self.directory = directory
        self.looked = tuple(looked)


def find_memory(path: str | None, environment: Environment) -> MemoryPlace:
    """Return the first result of `find_memories`. Raises the same errors."""
    return find_memories(path, environment)[0]


def find_memory_or_project(path: str | None, environment: Environment) -> MemoryPlace:
    """Return what `find_memory` returns; for a directory without a memory its project, as a memory
    without notes, whose sessions can still be handed off. Raises MemoryNotFound if the path does
    not exist.
    """
    try:
        return find_memory(path, environment)
    except NoMemoryHere as error:
        project = workplace(error.directory).top
        return MemoryPlace(project, NO_MEMORY, project, "a project without a memory")


def find_memories(path: str | None, environment: Environment) -> list[MemoryPlace]:
    """Return the memories that `path` may mean, most likely first; at least one.

    `path` is a memory's directory, its index file, or the directory of a project; None is the
    current directory. Raises MemoryNotFound if the path does not exist, and NoMemoryHere if no
    memory belongs to it.
    """
    if path is None:
        if not os.path.isdir(environment.cwd):
            raise MemoryNotFound("The current directory was deleted. Name a memory by its path.")
        return _memories_of(environment.cwd, environment, named=False)
    full = os.path.join(environment.cwd, path)
    if os.path.isdir(full):
        return _memories_of(full, environment, named=True)
    if os.path.isfile(full) and os.path.basename(full).lower() in INDEX_NAMES:
        return [itself(os.path.dirname(full))]
    if os.path.lexists(full):
        raise MemoryNotFound(f"{one_line(full)} is neither a directory nor a memory's index.")
    raise MemoryNotFound(f"{one_line(full)} does not exist.")


def clear_choice(places: Sequence[MemoryPlace]) -> MemoryPlace | None:
    """Return the place that can be opened without asking: the only one, or the first if it is the
    project's auto memory or a folder of notes; else None.
    """
    if len(places) == 1 or (places and places[0].layout.kind in _UNQUESTIONED):
        return places[0]
    return None


def candidates(environment: Environment, directory: str) -> list[MemoryPlace]:
    """Return the memories that belong to `directory` as a workplace, most likely first."""
    return existing(places_of(environment, workplace(directory)))


def all_memories(environment: Environment) -> list[MemoryPlace]:
    """Return every memory on this machine, each directory once: those of agents and projects, then
    existing ones that were once opened by path.
    """
    places = existing(places_everywhere(environment))
    known = {place.root for place in places}
    opened = (root for root in recall(environment.state) if os.path.isdir(root))
    others = [itself(root) for root in opened if os.path.realpath(root) not in known]
    return existing([*places, *others])


def _memories_of(directory: str, environment: Environment, *, named: bool) -> list[MemoryPlace]:
    here = itself(directory)
    if here.layout.kind is not MemoryKind.FOLDER:
        # inside a wiki, the user may mean the notes that an agent keeps about that work
        others = [] if named else candidates(environment, directory)
        return existing([here, *others])
    possible = places_of(environment, workplace(directory))
    places = existing(possible)
    of_project = [place for place in places if place.project == here.root]
    if not of_project and _is_folder_of_notes(here.root, named=named):
        of_project = [here]
    if not of_project and not places:
        raise NoMemoryHere(directory, possible)
    return existing([*of_project, *places])


def _is_folder_of_notes(root: str, *, named: bool) -> bool:
    """Return whether a directory counts as a memory by itself.

    In a repository only a directory that the user named counts, and its root only with notes at
    its top: else it is a project. Elsewhere one that was not named needs notes at its top, or every
    home would count; a named one may also be empty, or have notes in its folders.
    """
    repository = git.top_level(root)
    if repository:
        return named and holds_notes(root, in_folders=repository != root)
    return holds_notes(root, in_folders=named) or (named and not list_names(root))
