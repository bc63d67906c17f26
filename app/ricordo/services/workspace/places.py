"""The places where memories may be: of one workplace, of one directory, of the whole machine."""

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
"""How many sessions of a project, the newest ones, are asked where they worked."""


def existing(places: Iterable[MemoryPlace]) -> list[MemoryPlace]:
    """Return the `places` that are there, each directory once and by its real path."""
    found: dict[str, MemoryPlace] = {}
    for place in places:
        if os.path.isdir(place.root):
            root = os.path.realpath(place.root)
            found.setdefault(root, replace(place, root=root))
    return list(found.values())


def places_of(surroundings: Environment, here: Workplace) -> list[MemoryPlace]:
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


def places_everywhere(surroundings: Environment) -> list[MemoryPlace]:
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


def itself(directory: str) -> MemoryPlace:
    """Return `directory` as the memory that it is, or for the pages of a wiki the whole wiki."""
    root = wiki.whole_wiki(os.path.realpath(directory))
    layout = recognise(root)
    return MemoryPlace(root, layout, _project_of(root, layout), "the directory itself")


def _claude_code(surroundings: Environment) -> Installation:
    return installation(surroundings.agent_home, surroundings.environ)


def _auto_memories(agent: Installation, here: Workplace) -> Iterator[MemoryPlace]:
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


def _kept_in(project: str) -> list[MemoryPlace]:
    """The wikis of a project and its memory folder."""
    root = os.path.join(project, folder.PROJECT_FOLDER)
    found = wiki.in_project(project)
    if folder.holds_notes(root):
        found.append(
            MemoryPlace(root, recognise(root), project, "the memory folder of the project")
        )
    return found


def _project_of(root: str, layout: Layout) -> str:
    """The project of a memory that was named by its path; "" where it cannot be told."""
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
    """Return the paths and the directories above them, wider ones first."""
    return sorted({wide for path in paths for wide in (path, *_wider(path))})


def _wider(path: str) -> list[str]:
    """The directories above `path`, the nearest first."""
    found = []
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        found.append(path)
    return found


_UNQUESTIONED = (MemoryKind.CLAUDE, MemoryKind.FOLDER)


class NoMemoryHere(MemoryNotFound):
    """No memory belongs to a directory."""

    def __init__(self, directory: str, looked: Sequence[MemoryPlace]) -> None:
        """`looked` are the places that were tried."""
        tried = ", ".join(one_line(place.root) for place in looked)
        super().__init__(f"No memory was found for {one_line(directory)}. Looked in {tried}.")
        self.directory = directory
        self.looked = tuple(looked)


def find_memory(path: str | None, surroundings: Environment) -> MemoryPlace:
    """Return the memory that `path` means, else that of the current directory; of several the most
    likely. Raises what `find_memories` raises.
    """
    return find_memories(path, surroundings)[0]


def find_memory_or_project(path: str | None, surroundings: Environment) -> MemoryPlace:
    """Return what `find_memory` returns; where no memory belongs to a directory the project there,
    as a memory without notes: its sessions can be handed off all the same. Raises MemoryNotFound
    where no such path is.
    """
    try:
        return find_memory(path, surroundings)
    except NoMemoryHere as none:
        project = workplace(none.directory).top
        return MemoryPlace(project, NO_MEMORY, project, "a project without a memory")


def find_memories(path: str | None, surroundings: Environment) -> list[MemoryPlace]:
    """Return the memories that `path` may mean, most likely first and at least one.

    `path` is a memory's directory, its index file, or the directory of a project; None is the
    current directory. Raises MemoryNotFound where no such path is, and NoMemoryHere where no
    memory belongs to it.
    """
    if path is None:
        if not os.path.isdir(surroundings.cwd):
            raise MemoryNotFound("The current directory was deleted. Name a memory by its path.")
        return _memories_of(surroundings.cwd, surroundings, named=False)
    full = os.path.join(surroundings.cwd, path)
    if os.path.isdir(full):
        return _memories_of(full, surroundings, named=True)
    if os.path.isfile(full) and os.path.basename(full).lower() in INDEX_NAMES:
        return [itself(os.path.dirname(full))]
    if os.path.lexists(full):
        raise MemoryNotFound(f"{one_line(full)} is neither a directory nor the index of a memory.")
    raise MemoryNotFound(f"There is nothing at {one_line(full)}.")


def clear_choice(places: Sequence[MemoryPlace]) -> MemoryPlace | None:
    """Return the one of `places` that needs no question: a sole one, or before all others the auto
    memory of the project or a plain folder of notes that is the very directory; else None.
    """
    if len(places) == 1 or (places and places[0].layout.kind in _UNQUESTIONED):
        return places[0]
    return None


def candidates(surroundings: Environment, directory: str) -> list[MemoryPlace]:
    """Return the memories that belong to `directory` as a place of work, most likely first."""
    return existing(places_of(surroundings, workplace(directory)))


def all_memories(surroundings: Environment) -> list[MemoryPlace]:
    """Return every memory that is on this machine, each directory once: those of agents and
    projects, then those that were opened by their path and are still there.
    """
    places = existing(places_everywhere(surroundings))
    known = {place.root for place in places}
    opened = (root for root in recall(surroundings.state) if os.path.isdir(root))
    others = [itself(root) for root in opened if os.path.realpath(root) not in known]
    return existing([*places, *others])


def _memories_of(directory: str, surroundings: Environment, *, named: bool) -> list[MemoryPlace]:
    here = itself(directory)
    if here.layout.kind is not MemoryKind.FOLDER:
        # who works inside a wiki may mean the notes that an agent keeps about that work
        others = [] if named else candidates(surroundings, directory)
        return existing([here, *others])
    looked = places_of(surroundings, workplace(directory))
    found = existing(looked)
    own = [place for place in found if place.project == here.root]
    if not own and _is_folder_of_notes(here.root, named=named):
        own = [here]
    if not own and not found:
        raise NoMemoryHere(directory, looked)
    return existing([*own, *found])


def _is_folder_of_notes(root: str, *, named: bool) -> bool:
    """Say whether a directory is a memory of its own accord.

    A repository that nobody named is a project, whatever texts stand in it, and a named one is
    unless notes stand at its top. An empty directory that was named is a memory still to be filled;
    one that nobody named needs notes at its top, or every home would be one.
    """
    repository = git.top_level(root)
    if repository:
        return named and holds_notes(root, in_folders=repository != root)
    return holds_notes(root, in_folders=named) or (named and not list_names(root))
