"""Places where memories may be: for one workplace, one directory, the whole machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ricordo import git
from ricordo.agents.agent import MemoryPlace
from ricordo.agents.discovery import Discovery, describe_search
from ricordo.agents.folder import NO_MEMORY, PROJECT_FILES, has_notes
from ricordo.agents.registry import (
    INDEX_NAMES,
    SUPPORTED,
    find_known_memories_in,
    find_memories_in,
    place_from_directory,
    search_project,
)
from ricordo.agents.workplace import Workplace, find_workplace
from ricordo.errors import AmbiguousMemory, MemoryNotFound
from ricordo.resources import home_directory
from ricordo.services.workspace.environment import Environment
from ricordo.storage.foreign_file import list_subfolders
from ricordo.storage.reader import list_names
from ricordo.storage.summary_cache import load_summaries
from ricordo.text import make_one_line


def keep_existing(places: Iterable[MemoryPlace]) -> list[MemoryPlace]:
    """Return the `places` that exist, each directory once and by its real path."""
    by_root: dict[str, MemoryPlace] = {}
    for place in places:
        if os.path.isdir(place.root):
            root = os.path.realpath(place.root)
            by_root.setdefault(root, replace(place, root=root))
    return list(by_root.values())


def list_places(environment: Environment, here: Workplace) -> list[MemoryPlace]:
    """Return all that a workplace's memory may be, there or not, most likely first: those of
    agents, the project's own, those of sub-agents.
    """
    home, environ = environment.agent_home, environment.environ
    projects = tuple(dict.fromkeys((here.directory, here.top)))
    sub_agents = (it for support in SUPPORTED for it in support.sub_agent_memories(projects))
    return [
        *(place for support in SUPPORTED for place in support.memories_at(here, home, environ)),
        *(place for project in projects for place in find_memories_in(project)),
        *(replace(place, is_in_project=True) for place in sub_agents),
    ]


def list_all_places(environment: Environment) -> list[MemoryPlace]:
    """Return all that may be a memory on this machine: those of agents and sub-agents, those of
    every project in which an agent was ever seen to work, and all in the folders of the one here.
    """
    home, environ = environment.agent_home, environment.environ
    surveys = [support.survey(home, environ) for support in SUPPORTED]
    cwds = {environment.cwd}.union(*(survey.cwds for survey in surveys))
    projects = list(
        dict.fromkeys(find_workplace(cwd).root for cwd in sorted(cwds) if os.path.isdir(cwd))
    )
    return [
        *(place for survey in surveys for place in survey.memories(projects)),
        *(place for project in projects for place in find_memories_in(project)),
        *(place for project in projects for place in find_known_memories_in(project)),
        *_search_around(environment.cwd, environment)[0],
    ]


class NoMemoryFound(MemoryNotFound):
    """No memory belongs to a directory."""

    def __init__(
        self, directory: str, looked: Sequence[MemoryPlace], discovery: Discovery | None = None
    ) -> None:
        """`looked` are the places that were searched, and `discovery` what was searched in the
        project; None if its folders were not searched.
        """
        searched = [make_one_line(place.root) for place in looked]
        searched += [describe_search(discovery)] if discovery else []
        not_searched = "" if discovery else "; folders are searched only inside a project"
        super().__init__(
            f"No memory found for {make_one_line(directory)}. "
            f"Searched: {', '.join(searched)}{not_searched}.",
            hint="Name a memory by its path; `ricordo list` shows those of this machine, "
            "`ricordo demo` opens a sample.",
        )
        self.directory = directory
        self.searched = tuple(looked)


def _shorten(path: str, cwd: str) -> str:
    """Return `path` relative to `cwd`, if that is shorter."""
    return min(os.path.relpath(path, os.path.realpath(cwd)), path, key=len)


def find_memory(path: str | None, environment: Environment) -> MemoryPlace:
    """Return the memory that `path` means: the first result of `find_memories`.

    Raises AmbiguousMemory if the first one is one of several in the folders of a project, and the
    errors of `find_memories`.
    """
    places = find_each_memory(path, environment)
    if len(places) > 1:
        directory = os.path.normpath(os.path.join(environment.cwd, path or ""))
        names = [make_one_line(_shorten(place.root, environment.cwd)) for place in places]
        raise AmbiguousMemory(make_one_line(directory), names)
    return places[0]


def find_each_memory(path: str | None, environment: Environment) -> list[MemoryPlace]:
    """Return the memory that `path` means; all of those in the folders of a project if there are
    several and none is the likeliest. Raises the errors of `find_memories`.
    """
    return _list_rivals(find_memories(path, environment))


def _list_rivals(places: Sequence[MemoryPlace]) -> list[MemoryPlace]:
    """Return the first of the `places`; if it was found in the folders of a project, also the
    others that were found there. Those of sub-agents come after the project's own.
    """
    first = places[0]
    if not first.is_in_project:
        return [first]
    is_own = not first.layout.is_of_sub_agent
    return [it for it in places if it.is_in_project and it.layout.is_of_sub_agent is not is_own]


def find_memory_or_project(path: str | None, environment: Environment) -> MemoryPlace:
    """Return what `find_memory` returns; for a directory without a memory its project, as a memory
    without notes, whose sessions can still be handed off. Raises MemoryNotFound if the path does
    not exist.
    """
    try:
        return find_memory(path, environment)
    except NoMemoryFound as error:
        project = find_workplace(error.directory).top
        return MemoryPlace(project, NO_MEMORY, project, "a project without a memory")


def find_memories(path: str | None, environment: Environment) -> list[MemoryPlace]:
    """Return the memories that `path` may mean, most likely first; at least one.

    `path` is a memory's directory, its index file, or the directory of a project; None is the
    current directory. Raises MemoryNotFound if the path does not exist, and NoMemoryFound if no
    memory belongs to it.
    """
    if path is None:
        if not os.path.isdir(environment.cwd):
            raise MemoryNotFound("The current directory was deleted. Name a memory by its path.")
        return _memories_of(environment.cwd, environment, named=False)
    full = os.path.join(environment.cwd, path)
    if os.path.isdir(full):
        return _put_first(os.path.realpath(full), _memories_of(full, environment, named=True))
    if os.path.isfile(full) and os.path.basename(full).lower() in INDEX_NAMES:
        return [place_from_directory(os.path.dirname(full))]
    if os.path.lexists(full):
        raise MemoryNotFound(f"{make_one_line(full)} is neither a directory nor a memory's index.")
    raise MemoryNotFound(f"{make_one_line(full)} does not exist.")


def _put_first(root: str, places: Sequence[MemoryPlace]) -> list[MemoryPlace]:
    """Return `places` with the one at `root`, which the user named, as the likeliest of them; its
    neighbours in the project are no rivals then.
    """
    named = [replace(place, is_in_project=False) for place in places if place.root == root]
    return [*named, *(place for place in places if place.root != root)]


def find_clear_choice(places: Sequence[MemoryPlace]) -> MemoryPlace | None:
    """Return the place that can be opened without asking: the only one, the only one in the folders
    of the project, or the first if it is the project's auto memory or a folder of notes; else None.
    """
    if not places or len(_list_rivals(places)) > 1:
        return None
    first = places[0]
    return first if len(places) == 1 or first.is_in_project or first.layout.opens_unasked else None


def find_candidates(environment: Environment, directory: str) -> list[MemoryPlace]:
    """Return the memories that belong to `directory` as a workplace, most likely first."""
    return keep_existing(list_places(environment, find_workplace(directory)))


def is_other_folder(place: MemoryPlace, environment: Environment) -> bool:
    """Return whether a memory in the form of an agent's is a folder of its project that the agent
    does not use as its memory; an instruction file may still import it. False where the project is
    not known.
    """
    if not (place.layout.agent and place.project) or not _is_inside(place.root, place.project):
        return False
    places = keep_existing(list_places(environment, find_workplace(place.project)))
    return all(known.root != place.root for known in places)


def find_all_memories(environment: Environment) -> list[MemoryPlace]:
    """Return every memory on this machine, each directory once: those of agents and projects, then
    existing ones that were once opened by path.
    """
    places = keep_existing(list_all_places(environment))
    known = {place.root for place in places}
    opened = (root for root in load_summaries(environment.state) if os.path.isdir(root))
    others = [place_from_directory(root) for root in opened if os.path.realpath(root) not in known]
    return keep_existing([*places, *others])


def _memories_of(directory: str, environment: Environment, *, named: bool) -> list[MemoryPlace]:
    here = place_from_directory(directory)
    if not here.layout.is_plain:
        # inside a wiki, the user may mean the notes that an agent keeps about that work
        others = [] if named else find_candidates(environment, directory)
        return keep_existing([here, *others])
    possible = list_places(environment, find_workplace(directory))
    places = keep_existing(possible)
    of_project = [place for place in places if place.project == here.root]
    is_itself = not of_project and _is_folder_of_notes(here.root, named=named)
    is_vault = is_itself and not _is_project(here.root)
    if any(place.project and not place.is_in_project for place in places) or (
        is_vault and has_notes(here.root, in_folders=False)
    ):
        return keep_existing([*of_project, *([here] if is_itself else []), *places])
    discovered, discovery = _search_around(directory, environment)
    inside = [place for place in discovered if _is_inside(place.root, here.root)]
    if is_vault and _has_notes_beside(here.root, inside):
        # one of its folders is called as a memory is
        inside = []
    chosen = inside or ([here] if is_itself else discovered)
    if not chosen and not places:
        raise NoMemoryFound(directory, possible, discovery)
    in_project = [place for place in (*of_project, *chosen, *places) if place.is_in_project]
    in_project.sort(key=lambda place: place.layout.is_of_sub_agent)
    return keep_existing([*(chosen if is_itself else ()), *in_project, *places])


def _is_project(root: str) -> bool:
    """Return whether a directory is the root of a repository, or has files as projects have."""
    if git.find_top_level(root) == root:
        return True
    return not PROJECT_FILES.isdisjoint(map(str.lower, list_names(root)))


def _has_notes_beside(root: str, memories: Sequence[MemoryPlace]) -> bool:
    """Return whether folders in `root` have notes that belong to none of the `memories`."""
    return any(
        has_notes(folder, in_folders=False)
        for folder in list_subfolders(root)
        if not os.path.basename(folder).startswith(".")
        and not any(_is_inside(folder, memory.root) for memory in memories)
    )


def _search_around(
    directory: str, environment: Environment
) -> tuple[list[MemoryPlace], Discovery | None]:
    """Return the memories in the folders of the project of `directory`, and what was searched:
    those in `directory`, else the one that holds it, else all. The second value is None if the
    project is a home or around one: its folders are not searched.
    """
    here = find_workplace(directory)
    homes = (environment.agent_home, home_directory(environment.environ))
    if any(_is_inside(os.path.realpath(home), here.top) for home in homes if home):
        return [], None
    if here.directory != here.top:
        inside, discovery = search_project(here.directory)
        if inside:
            return [replace(place, project=here.top) for place in inside], discovery
    places, discovery = search_project(here.top)
    around = [place for place in places if _is_inside(here.directory, place.root)]
    return around or places, discovery


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _is_folder_of_notes(root: str, *, named: bool) -> bool:
    """Return whether a directory counts as a memory by itself.

    In a repository only a directory that the user named counts, and its root only with notes at
    its top: else it is a project. Elsewhere one that was not named needs notes at its top, or every
    home would count; a named one may also be empty, or have notes in its folders.
    """
    repository = git.find_top_level(root)
    if repository:
        return named and has_notes(root, in_folders=repository != root)
    return has_notes(root, in_folders=named) or (named and not list_names(root))
