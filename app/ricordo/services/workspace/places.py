"""The places where memories may be: of one workplace, of one directory, of the whole machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ricordo import git
from ricordo.agents.folder import NO_MEMORY, holds_notes
from ricordo.agents.place import MemoryPlace
from ricordo.agents.registry import INDEX_NAMES, SUPPORTED, memories_in, memory_at
from ricordo.agents.workplace import Workplace, workplace
from ricordo.errors import MemoryNotFound
from ricordo.services.workspace.environment import Environment
from ricordo.storage.last_seen import recall
from ricordo.storage.reader import list_names
from ricordo.text import one_line


def existing(places: Iterable[MemoryPlace]) -> list[MemoryPlace]:
    """Return the `places` that are there, each directory once and by its real path."""
    found: dict[str, MemoryPlace] = {}
    for place in places:
        if os.path.isdir(place.root):
            root = os.path.realpath(place.root)
            found.setdefault(root, replace(place, root=root))
    return list(found.values())


def places_of(surroundings: Environment, here: Workplace) -> list[MemoryPlace]:
    """Return all that a workplace's memory may be, there or not, most likely first: those of
    agents, the project's own, those of sub-agents.
    """
    home, environ = surroundings.agent_home, surroundings.environ
    projects = tuple(dict.fromkeys((here.directory, here.top)))
    return [
        *(place for it in SUPPORTED for place in it.memories_at(here, home, environ)),
        *(place for project in projects for place in memories_in(project)),
        *(place for it in SUPPORTED for place in it.sub_agent_memories(projects)),
    ]


def places_everywhere(surroundings: Environment) -> list[MemoryPlace]:
    """Return all that may be a memory on this machine: those of agents and sub-agents, and those of
    every project in which an agent was ever seen to work and of the one here.
    """
    home, environ = surroundings.agent_home, surroundings.environ
    surveys = [support.survey(home, environ) for support in SUPPORTED]
    cwds = {surroundings.cwd}.union(*(survey.cwds for survey in surveys))
    projects = list(
        dict.fromkeys(workplace(cwd).root for cwd in sorted(cwds) if os.path.isdir(cwd))
    )
    return [
        *(place for survey in surveys for place in survey.memories(projects)),
        *(place for project in projects for place in memories_in(project)),
    ]


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
        return [memory_at(os.path.dirname(full))]
    if os.path.lexists(full):
        raise MemoryNotFound(f"{one_line(full)} is neither a directory nor the index of a memory.")
    raise MemoryNotFound(f"There is nothing at {one_line(full)}.")


def clear_choice(places: Sequence[MemoryPlace]) -> MemoryPlace | None:
    """Return the one of `places` that needs no question: a sole one, or before all others the auto
    memory of the project or a plain folder of notes that is the very directory; else None.
    """
    if len(places) == 1 or (places and places[0].layout.opens_unasked):
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
    others = [memory_at(root) for root in opened if os.path.realpath(root) not in known]
    return existing([*places, *others])


def _memories_of(directory: str, surroundings: Environment, *, named: bool) -> list[MemoryPlace]:
    here = memory_at(directory)
    if not here.layout.is_plain:
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
