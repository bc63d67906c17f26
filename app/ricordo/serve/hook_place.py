"""The memory of a working directory, as far as it has an index."""

from __future__ import annotations

import os

from ricordo.agents.claude_folder import memory_directory, memory_directory_by_path
from ricordo.agents.claude_settings import installation
from ricordo.agents.workplace import workplace
from ricordo.git import top_level
from ricordo.notebook.homes import agent_home
from ricordo.recall.catalogue import FOLDER, read_catalogue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ricordo.agents.workplace import Workplace

_BY_RULE = -1
"""The rank of the memory that Claude Code loads itself, before all ranks of the catalogue."""


class Indexed:
    """A memory that has an index."""

    __slots__ = ("index", "root")

    def __init__(self, root: str, index: str) -> None:
        self.root = root
        self.index = index
        """Path of the index."""


def indexed_memory(state: str, cwd: str, environ: Mapping[str, str]) -> Indexed | None:
    """Return the memory of the working directory `cwd`; None where none with an index is known to
    be its own.

    Taken is the memory whose project is the nearest around `cwd`, within its repository; in a
    worktree that of the main one. Which one Claude Code keeps for a directory is told by its rules,
    any other by the project with which it was indexed: where that is not known, nothing is given.
    """
    known = {root: it for root, it in read_catalogue(state).items() if _is_usable(it)}
    home = agent_home(environ)
    here = workplace(cwd)
    around = list(_around(here, home))
    by_place: dict[str, list[tuple[int, str]]] = {}
    for root, it in known.items():
        if it["project"]:
            for place in {root, it["project"]}:
                by_place.setdefault(place, []).append((it["rank"], root))
    for place, root in _by_rule(here, around, home, environ):
        if root in known:
            by_place.setdefault(place, []).append((_BY_RULE, root))
    for place in around:
        # one that is away must not keep another one of the same project from answering
        there = [it for it in by_place.get(place, ()) if os.path.isdir(it[1])]
        if there:
            _, root = min(there)
            return Indexed(root, os.path.join(state, FOLDER, known[root]["index"]))
    return None


def _is_usable(it: Mapping[str, Any]) -> bool:
    index = it.get("index")
    return (
        isinstance(it.get("rank"), int)
        and isinstance(it.get("project"), str)
        and isinstance(index, str)
        and os.path.basename(index) == index
    )


def _by_rule(
    here: Workplace, around: list[str], home: str, environ: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the memory that Claude Code's rules name for a workplace, with the directory that it is
    of; where it is missing, those that earlier versions named by the path of a directory around it.
    """
    claude = installation(home, environ)
    root = os.path.realpath(memory_directory(claude, here)[0])
    if os.path.isdir(root):
        yield here.root, root
        return
    for place in around:
        yield place, os.path.realpath(memory_directory_by_path(claude, place))


def _around(here: Workplace, home: str) -> Iterator[str]:
    """The directories from that of a workplace upwards to the root of its repository, which is
    followed by that of the main worktree: a repository that lies in a project is none of it.
    Outside a repository they end below the home directory.
    """
    folder, top = here.directory, top_level(here.directory)
    home = f"{os.path.realpath(home)}/"
    yield folder
    while folder not in (top, os.path.dirname(folder)):
        folder = os.path.dirname(folder)
        if top is None and home.startswith(f"{folder.rstrip('/')}/"):
            return
        yield folder
    if here.root != here.top:
        yield here.root
