"""Which instruction files of a project which agent reads, by the table beside this module."""

from __future__ import annotations

import glob
import os
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from ricordo.agents.prompt_rules import includes_file
from ricordo.resources import read_data_text

_MOST_FILES = 200
"""Files of one pattern that are looked at."""


class InstructionReader(NamedTuple):
    """One agent of the table."""

    agent: str
    homes: tuple[str, ...]
    files: tuple[str, ...]
    first: tuple[str, ...]
    instead: tuple[str, ...]
    unless: tuple[str, ...]
    home_first: tuple[str, ...]

    @property
    def patterns(self) -> tuple[str, ...]:
        """All that it may read."""
        return (*self.files, *self.first, *self.instead)

    def is_here(self, home: str) -> bool:
        """Return whether the agent was ever used in this home."""
        return any(os.path.lexists(os.path.join(home, name)) for name in self.homes)


class ShadowedFile(NamedTuple):
    """An instruction file that an agent does not read because of another one."""

    path: str
    agent: str
    by: str


class UnreadFile(NamedTuple):
    """An instruction file that no agent here reads, and the agents that would."""

    path: str
    agents: tuple[str, ...]


@cache
def load_readers() -> tuple[InstructionReader, ...]:
    """Return the agents of the table."""
    table = tomllib.loads(read_data_text("agents/instruction_files.toml"))
    keys = ("homes", "files", "first", "instead", "unless", "home_first")
    return tuple(
        InstructionReader(each["agent"], *(tuple(each.get(key, ())) for key in keys))
        for each in table["reader"]
    )


def find_shadowed(project: str, home: str) -> list[ShadowedFile]:
    """Return the instruction files of a project that an agent here does not read because of another
    one that does not include them. Paths are relative to the project.
    """
    found: list[ShadowedFile] = []
    for reader in load_readers():
        if not reader.is_here(home):
            continue
        winners = _find(project, reader.unless)
        for path in _find(project, reader.instead) if winners else ():
            file = os.path.join(project, path)
            if not any(includes_file(os.path.join(project, it), file) for it in winners):
                found.append(ShadowedFile(path, reader.agent, winners[0]))
    return found


def find_shadowed_at_home(home: str) -> list[ShadowedFile]:
    """Return the instruction files in the home directory that an agent here does not read because
    of another one. Paths are relative to the home directory.
    """
    found: list[ShadowedFile] = []
    for reader in load_readers():
        winner, *others = _find(home, reader.home_first) or [""]
        found += (ShadowedFile(path, reader.agent, winner) for path in others)
    return [
        it
        for it in found
        if not includes_file(os.path.join(home, it.by), os.path.join(home, it.path))
    ]


def find_unread(project: str, home: str) -> list[UnreadFile]:
    """Return the instruction files of a project that no agent here reads."""
    here = [reader for reader in load_readers() if reader.is_here(home)]
    read = {path for reader in here for path in _find_read(project, reader)}
    # what an agent here would read but for another file is shadowed
    read |= {path for reader in here for path in _find(project, (*reader.first, *reader.instead))}
    others: dict[str, list[str]] = {}
    for reader in load_readers():
        for path in _find(project, reader.patterns):
            others.setdefault(path, []).append(reader.agent)
    return [UnreadFile(path, tuple(agents)) for path, agents in others.items() if path not in read]


def _find_read(project: str, reader: InstructionReader) -> list[str]:
    is_instead = not _find(project, reader.unless)
    return [
        *_find(project, reader.files),
        *_find(project, reader.first)[:1],
        *(_find(project, reader.instead) if is_instead else ()),
    ]


def _find(project: str, patterns: Iterable[str]) -> list[str]:
    """Return the files that fit `patterns`, in their order, relative to the project."""
    found: dict[str, None] = {}
    for pattern in patterns:
        paths: Sequence[str] = [pattern]
        if "*" in pattern:
            paths = sorted(
                glob.glob(pattern, root_dir=project, recursive=True, include_hidden=True)
            )[:_MOST_FILES]
        for path in paths:
            if os.path.isfile(os.path.join(project, path)):
                found[path] = None
    return list(found)
