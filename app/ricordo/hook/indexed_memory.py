"""Which memory an event is about: the one of the directory in which the agent works."""

from __future__ import annotations

import os

from ricordo.agents.prompt_rules import find_loaded_memories
from ricordo.agents.workplace import PROJECT_FOLDER, find_workplace
from ricordo.git import find_top_level
from ricordo.resources import agent_home
from ricordo.search.reader import FOLDER, read_catalogue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ricordo.agents.workplace import Workplace

_BY_RULE = -1
"""The rank of a memory that an agent loads itself, before all ranks of the catalogue."""


class IndexedMemory:
    """A memory that has an index."""

    __slots__ = ("index", "root")

    def __init__(self, root: str, index: str) -> None:
        self.root = root
        self.index = index
        """Path of the index."""


def find_indexed_memory(state: str, cwd: str, environ: Mapping[str, str]) -> IndexedMemory | None:
    """Return the memory of the working directory `cwd`; None if no memory with an index is known to
    belong to it.

    This is the memory whose project is the nearest parent of `cwd`, within its repository; for a
    worktree also that of the main one. The memory that an agent keeps for a directory follows from
    its rules, any other from the project with which it was indexed; without a project it is never
    used.
    """
    catalogue = {root: entry for root, entry in read_catalogue(state).items() if _is_usable(entry)}
    home = agent_home(environ)
    here = find_workplace(cwd)
    parents = list(_parents(here, home))
    by_place: dict[str, list[tuple[int, str]]] = {}
    for root, entry in catalogue.items():
        if entry["project"]:
            for place in {root, entry["project"]}:
                by_place.setdefault(place, []).append((entry["rank"], root))
    for place, root in find_loaded_memories(here, parents, home, environ):
        if root in catalogue:
            by_place.setdefault(place, []).append((_BY_RULE, root))
    for place in parents:
        # a missing memory must not keep another one of the same project from answering
        existing = [ranked for ranked in by_place.get(place, ()) if os.path.isdir(ranked[1])]
        if existing:
            _, root = min(existing)
            return IndexedMemory(root, os.path.join(state, FOLDER, catalogue[root]["index"]))
    return None


def _is_usable(entry: Mapping[str, Any]) -> bool:
    index = entry.get("index")
    return (
        isinstance(entry.get("rank"), int)
        and isinstance(entry.get("project"), str)
        and isinstance(index, str)
        and os.path.basename(index) == index
    )


def _parents(here: Workplace, home: str) -> Iterator[str]:
    """Yield the directory of a workplace and its parents up to the root of the repository, then the
    root of the main worktree. Outside a repository they end below the home directory.
    """
    folder, top = here.directory, find_top_level(here.directory)
    home = f"{os.path.realpath(home)}/"
    yield folder
    while folder not in (top, os.path.dirname(folder)):
        folder = os.path.dirname(folder)
        if top is None and home.startswith(f"{folder.rstrip('/')}/"):
            return
        yield folder
    if here.root != here.top:
        yield here.root


def find_memory_of_file(state: str, path: str, cwd: str, environ: Mapping[str, str]) -> str:
    """Return the memory in which the note at `path` is, or may begin one: one that has an index, or
    the one that an agent keeps for the directory `cwd`; "" for none.
    """
    real = os.path.realpath(path)
    roots = [*read_catalogue(state)]
    if cwd:
        home = agent_home(environ)
        here = find_workplace(cwd)
        loaded = find_loaded_memories(here, list(_parents(here, home)), home, environ)
        roots += (root for _, root in loaded)
        roots += (os.path.join(folder, PROJECT_FOLDER) for folder in (here.directory, here.top))
    inside = (root for root in roots if real.startswith(os.path.join(root, "")))
    return max(inside, key=len, default="")
