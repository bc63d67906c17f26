"""Which instruction files of a project which agent reads, by the table beside this module."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import tomli

from ricordo import git
from ricordo.agents.prompt_rules import CODE, includes_file
from ricordo.patterns import compile_lazily
from ricordo.resources import read_data_text
from ricordo.storage.foreign_file import read_plain_file

_SECONDS = 3.0
_LARGEST = 1 << 20
_IMPORT = compile_lazily(r"(?:^|(?<=\s))@((?:~/|\.{0,2}/)?[\w.-][\w./-]*\.md)(?![\w/-])")
_COMMON_NAME = "AGENTS.md"
"""The name that many agents read."""
_TOLD_LATER = tuple(
    f"{folder}{kind}"
    for folder in ("", ".*/")
    for kind in ("commands/**/*.md", "skills/**/SKILL.md", "*/SKILL.md")
)
"""Files with what agents are told when they need it."""
_MOST_FILES = 200
"""Files of one pattern that are looked at."""


class InstructionReader(NamedTuple):
    """One agent of the table."""

    agent: str
    homes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    home_first: tuple[str, ...] = ()
    folder_first: tuple[str, ...] = ()
    including: tuple[str, ...] = ()
    home_including: tuple[str, ...] = ()
    most_bytes: int = 0
    most_characters: int = 0

    @property
    def patterns(self) -> tuple[str, ...]:
        """All that it may read."""
        return (*self.files, *self.first, *self.instead)

    @property
    def main_name(self) -> str:
        """The name of the file that most of its users have."""
        plain = [pattern for pattern in self.patterns if "*" not in pattern]
        return next(name for name in (*self.including, _COMMON_NAME, *plain) if name in plain)

    def is_here(self, home: str) -> bool:
        """Return whether the agent was ever used in this home."""
        return any(os.path.lexists(os.path.join(home, name)) for name in self.homes)


class ShadowedFile(NamedTuple):
    """An instruction file that an agent does not read because of another one."""

    path: str
    agent: str
    by: str
    is_replaced: bool = False
    """Whether the other one is in its place, as an override is."""


class MisnamedFile(NamedTuple):
    """A file whose name differs from that of an instruction file in small and capital letters
    only, and the agents here that look for it.
    """

    path: str
    name: str
    agents: tuple[str, ...]


class LongFile(NamedTuple):
    """An instruction file of which an agent here reads only the beginning."""

    path: str
    agent: str
    size: int
    limit: int
    unit: str


class UnreadFiles(NamedTuple):
    """The instruction files of a project that has none for the agents here."""

    paths: tuple[str, ...]
    agents: tuple[str, ...]
    """Those that would read them."""
    reader: InstructionReader
    """An agent here."""


@cache
def load_readers() -> tuple[InstructionReader, ...]:
    """Return the agents of the table."""
    table = tomli.loads(read_data_text("agents/instruction_files.toml"))
    return tuple(InstructionReader(**_read_fields(each)) for each in table["reader"])


def _read_fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a reader as its `entry` in the table has them."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


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
        if reader.folder_first:
            found += _find_shadowed_in_folders(project, reader)
    return found


def _find_shadowed_in_folders(project: str, reader: InstructionReader) -> Iterator[ShadowedFile]:
    winner, *others = reader.folder_first
    patterns = (f":(glob)**/{name}" for name in others)
    words = ("-z", "--cached", "--others", "--exclude-standard", "--", *patterns)
    answer = git.run_git(project, "ls-files", *words, seconds=_SECONDS)
    listed = os.fsdecode(answer or b"").split("\0")[:-1] or _find(project, others)
    for path in sorted(set(listed)):
        by = os.path.join(os.path.dirname(path), winner)
        both = [os.path.join(project, it) for it in (by, path)]
        if all(map(os.path.isfile, both)) and not includes_file(*both):
            yield ShadowedFile(path, reader.agent, by, is_replaced=True)


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


def find_unread(project: str, home: str) -> UnreadFiles | None:
    """Return the instruction files of a project if no agent here reads any of them; None if there
    are none. Beside files that are read, those of other agents are for whoever uses these.
    """
    here = [reader for reader in load_readers() if reader.is_here(home)]
    if not here or any(_find_read(project, reader) for reader in here):
        return None
    found = {reader.agent: _find(project, reader.patterns) for reader in load_readers()}
    paths = dict.fromkeys(path for of_agent in found.values() for path in of_agent)
    agents = tuple(agent for agent, of_agent in found.items() if of_agent)
    return UnreadFiles(tuple(paths), agents, here[0]) if paths else None


def find_too_long(project: str, home: str) -> list[LongFile]:
    """Return the instruction files of a project that an agent here does not read to the end."""
    found: list[LongFile] = []
    limited = (it for it in load_readers() if it.most_bytes or it.most_characters)
    for reader in limited:
        for path in _find_read(project, reader) if reader.is_here(home) else ():
            raw = read_plain_file(os.path.join(project, path), _LARGEST, follow=True) or b""
            size, limit, unit = len(raw), reader.most_bytes, "bytes"
            if reader.most_characters:
                size, limit = len(raw.decode("utf-8", "replace")), reader.most_characters
                unit = "characters"
            if size > limit:
                found.append(LongFile(path, reader.agent, size, limit, unit))
    return found


def find_misnamed(project: str, home: str) -> list[MisnamedFile]:
    """Return the files in the top folder of a project that agents here would read if small and
    capital letters were the same.
    """
    try:
        names = os.listdir(project)
    except OSError:
        return []
    wanted: dict[str, list[str]] = {}
    for reader in load_readers():
        for pattern in reader.patterns if reader.is_here(home) else ():
            wanted.setdefault(pattern, []).append(reader.agent)
    exact = {pattern.casefold(): pattern for pattern in wanted}
    alike = ((name, exact.get(name.casefold())) for name in sorted(names))
    return [
        MisnamedFile(name, pattern, tuple(dict.fromkeys(wanted[pattern])))
        for name, pattern in alike
        # where letters are not told apart, the name that is looked for is there, too
        if pattern and not os.path.lexists(os.path.join(project, pattern))
    ]


def find_broken_links(project: str, home: str) -> list[tuple[str, str]]:
    """Return the instruction files of agents here that are links to files which are not there, each
    with the file that it names.
    """
    here = [reader for reader in load_readers() if reader.is_here(home)]
    names = dict.fromkeys(name for it in here for name in it.patterns if "*" not in name)
    paths = ((name, os.path.join(project, name)) for name in names)
    return [
        (name, os.path.realpath(path))
        for name, path in paths
        if os.path.islink(path) and not os.path.exists(path)
    ]


def find_missing_imports(project: str, home: str) -> list[tuple[str, str]]:
    """Return the pages that instruction files in the top folder of a project include and that are
    not there, each behind the file. One in a home directory may be there for others.
    """
    here = (reader for reader in load_readers() if reader.is_here(home))
    names = dict.fromkeys(name for reader in here for name in reader.including)
    return [
        (name, _find_import(project, name, path, home))
        for name in names
        for path in _list_missing_imports(project, name, home)
        if not path.startswith("~")
    ]


def find_missing_imports_at_home(home: str) -> list[tuple[str, str]]:
    """Return the pages that the user's own instruction files include and that are not there, each
    behind the file. Paths of files are relative to the home directory.
    """
    names = dict.fromkeys(name for reader in load_readers() for name in reader.home_including)
    return [
        (name, _find_import(home, name, path, home))
        for name in names
        for path in _list_missing_imports(home, name, home)
    ]


def read_instructions(project: str) -> str:
    """Return the text of all that agents are told in a project: instruction files, commands and
    skills.
    """
    patterns = (*(it for reader in load_readers() for it in reader.patterns), *_TOLD_LATER)
    texts = (
        read_plain_file(os.path.join(project, path), _LARGEST, follow=True)
        for path in dict.fromkeys(_find(project, patterns))
    )
    return "\n".join((raw or b"").decode("utf-8", "replace") for raw in texts)


def names_path(instructions: str, path: str) -> bool:
    """Return whether instructions name the file at `path` of the project, or its end from any
    folder on; a folder, with a `/` behind, only by the whole path.
    """
    *folders, name = path.split("/")
    if name not in instructions:
        return False
    if not name:
        return bool(re.search(rf"(?<![\w/~.-])(?:\./)?{re.escape(path)}", instructions))
    ends = {"".join(f"{it}/" for it in folders[at:]) for at in range(len(folders) + 1)}
    named = re.finditer(rf"([\w./~-]*){re.escape(name)}(?![\w-])", instructions)
    return any(it[1].removeprefix("./") in ends for it in named)


def _list_missing_imports(folder: str, name: str, home: str) -> list[str]:
    raw = read_plain_file(os.path.join(folder, name), _LARGEST, follow=True) or b""
    text = CODE.sub(b" ", raw).decode("utf-8", "replace")
    paths = dict.fromkeys(_IMPORT.findall(text))
    return [it for it in paths if not os.path.lexists(_find_import(folder, name, it, home))]


def _find_import(folder: str, name: str, path: str, home: str) -> str:
    """Return what `path` in the instruction file `name` of a folder imports."""
    if path.startswith("~/"):
        return os.path.normpath(os.path.join(home, path[2:]))
    return os.path.normpath(os.path.join(folder, os.path.dirname(name), path))


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
