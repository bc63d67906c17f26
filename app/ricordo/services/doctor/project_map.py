"""The projects and folders of an agent on this machine, and which memory each project loads."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

from ricordo import git
from ricordo.agents.diagnosis import (
    FolderSession,
    MemorySource,
    PathHolder,
    ProjectFolder,
    RepositoryRecord,
    holds_path,
)
from ricordo.agents.registry import SUPPORTED
from ricordo.agents.workplace import Workplace, find_workplace
from ricordo.patterns import compile_lazily
from ricordo.services.doctor.identity import Repositories, list_worktrees, read_worktree_record
from ricordo.services.workspace.environment import Environment
from ricordo.storage.foreign_file import list_subfolders, read_plain_file

if TYPE_CHECKING:
    from ricordo.agents.support import AgentSupport

Step = Callable[[str], None]
"""Gets the current activity, a few words; raises where the user cancelled."""
_FOLDED = compile_lazily(r"[^a-z0-9]+")
_MOST_NOTES = 500
"""Notes of one memory that are compared with those of others."""
_LARGEST_NOTE = 1024 * 1024
_LARGEST_HEAD = 16 * 1024
_ORIGIN = compile_lazily(rb"(?m)^[ \t]*originSessionId:[ \t]*[\"']?([\w-]+)")


def fold_name(name: str) -> str:
    """Return the name of a folder without what different rules for such names make different."""
    return _FOLDED.sub("-", name.casefold()).strip("-")


@dataclass
class ProjectMap:
    """The projects and folders of one agent on this machine."""

    support: AgentSupport
    environment: Environment
    folders: list[ProjectFolder]
    projects: list[str]
    """Directories of projects that are there."""
    repositories: Repositories = field(default_factory=Repositories)
    moved: dict[str, str] = field(default_factory=dict)
    """Directories in which only remnants of a project are, with where that is now."""
    _loaded: dict[str, str] = field(default_factory=dict)
    _inside: dict[str, Sequence[str]] = field(default_factory=dict)

    def find_loaded_memory(self, place: Workplace) -> str:
        """Return the directory of the memory that sessions of a workplace load."""
        if place.root not in self._loaded:
            home, environ = self.environment.agent_home, self.environment.environ
            memory = next(iter(self.support.memories_at(place, home, environ)))
            self._loaded[place.root] = os.path.realpath(memory.root)
            if not os.path.isdir(memory.root):
                self._loaded[place.root] = self._find_named(place, self._loaded[place.root])
        return self._loaded[place.root]

    def find_memory_of(self, project: str) -> str:
        """Return the directory of the memory that sessions of a project load."""
        # not by what is around it: a bare repository may lie in a directory that names it
        return self.find_loaded_memory(Workplace(project, project, project))

    def find_obstacle(self, project: str, memory: str) -> str:
        """Return what to do before notes can be moved to the memory of a project, as sentences; ""
        if sessions there would load them.
        """
        place = Workplace(project, project, project)
        home, environ = self.environment.agent_home, self.environment.environ
        if switch := self.support.memory_switch(place, home, environ):
            return f"Sessions there load no notes: {switch.key} is off in {switch.file}."
        if os.path.isdir(memory):
            return ""
        if source := self.find_source(place, memory):
            # it may be on a disk that is not mounted, and would be hidden by it
            return f"{source.file} names a directory that is not there: {memory}."
        is_named = self.support.has_known_name(memory)
        start = f"Start the agent once in {project}: then the directory of its memory is known."
        return "" if is_named else start

    def find_source(self, place: Workplace, memory: str) -> MemorySource | None:
        """Return the setting of a workplace that names a memory; None for none."""
        sources = (it for it in self.list_sources(place) if it.directory)
        return next((it for it in sources if os.path.realpath(it.directory) == memory), None)

    def _find_named(self, place: Workplace, memory: str) -> str:
        """Return the memory in the folder that is named after a workplace, where `memory`, which is
        not there, would be in such a folder: the name of a long path is cut.
        """
        above = os.path.dirname(os.path.dirname(memory))
        for folder in self.folders:
            path = os.path.realpath(folder.path)
            if place.root in folder.owners and os.path.dirname(path) == above:
                return os.path.realpath(folder.memory)
        return memory

    def find_loading(self, memory: str) -> Sequence[str]:
        """Return the projects whose sessions load the memory."""
        loading = self._loading.get(os.path.realpath(memory), ())
        return [it for it in loading if it not in self.moved]

    def list_shared(self) -> list[tuple[str, Sequence[str]]]:
        """Return the memories that sessions of several directories load, with these."""
        loading = ((memory, self.find_loading(memory)) for memory in self._loading)
        return [(memory, paths) for memory, paths in loading if len(paths) > 1]

    @cached_property
    def _loading(self) -> Mapping[str, Sequence[str]]:
        loading: dict[str, list[str]] = {}
        for project in self.projects:
            memory = self.find_memory_of(project)
            loading.setdefault(memory, []).append(project)
        return loading

    def find_worktree_owner(self, path: str) -> str:
        """Return the project of which the directory `path` was a worktree; "" for none."""
        folder = self.support.worktree_folder
        above, mark, _ = path.partition(f"/{folder}/")
        if folder and mark and above in self.projects:
            return above
        return self._worktrees.get(path, ("", ""))[0]

    def find_moved_worktree(self, path: str) -> str:
        """Return where the worktree that was at `path` is now, without git having been told; "" if
        there is none, or git has no record of it.
        """
        record = self._worktrees.get(path, ("", ""))[1]
        now = (it for it in self.projects if record and read_worktree_record(it) == record)
        return next(now, "")

    @cached_property
    def _worktrees(self) -> Mapping[str, tuple[str, str]]:
        """The projects of the worktrees of which git has records, with these, by directory."""
        return {
            path: (project, os.path.realpath(record))
            for project in self.projects
            for path, record in list_worktrees(project)
        }

    @cached_property
    def twins(self) -> Mapping[str, ProjectFolder]:
        """The folders whose memories are loaded, by their names without signs and case."""
        loaded = (it for it in reversed(self.folders) if self.find_loading(it.memory))
        return {fold_name(folder.name): folder for folder in loaded}

    @cached_property
    def notes(self) -> Mapping[bytes, Sequence[ProjectFolder]]:
        """The folders by the digests of the notes in their memories."""
        notes: dict[bytes, list[ProjectFolder]] = {}
        for folder in self.folders:
            for digest in digest_notes(folder.memory):
                notes.setdefault(digest, []).append(folder)
        return notes

    @cached_property
    def sessions(self) -> Mapping[str, FolderSession]:
        """The sessions of all folders, by their ids."""
        return {it.id: it for folder in self.folders for it in folder.sessions}

    def find_first_session(self, project: str) -> str:
        """Return when the first session of a project began, ISO 8601; "" if that is unknown."""
        began = (it.began for it in self.sessions.values() if is_at(it.cwd, project))
        return min(filter(None, began), default="")

    @cached_property
    def records(self) -> Mapping[str, Sequence[RepositoryRecord]]:
        """What all agents noted of repositories, by the directories in which these were."""
        home, environ = self.environment.agent_home, self.environment.environ
        noted: dict[str, list[RepositoryRecord]] = {}
        for support in SUPPORTED:
            for record in support.repository_records(home, environ):
                noted.setdefault(record.directory, []).append(record)
        return noted

    def list_repositories(self, folder: str) -> Sequence[str]:
        """Return the projects that are repositories in a folder."""
        if folder not in self._inside:
            paths = list_subfolders(folder)
            inside = [path for path in paths if os.path.lexists(os.path.join(path, ".git"))]
            self._inside[folder] = [find_workplace(path).root for path in inside]
        return self._inside[folder]

    def list_candidates(self, path: str) -> list[str]:
        """Return the other projects that may be the one that was at `path`: those that the agent
        knows, and repositories in the nearest folder around it that is there.
        """
        above = find_nearest_folder(path)
        home = os.path.realpath(self.environment.agent_home)
        is_narrow = above not in ("", "/", os.path.dirname(home))
        near = self.list_repositories(above) if is_narrow else ()
        known = dict.fromkeys((*self.projects, *near))
        return [it for it in known if it != path and it not in self.moved]

    def list_sources(self, place: Workplace) -> list[MemorySource]:
        """Return the settings of a workplace that name a memory."""
        home, environ = self.environment.agent_home, self.environment.environ
        return self.support.memory_sources(place, home, environ)

    def list_path_holders(self, project: str, memory: str) -> tuple[str, ...]:
        """Return what holds the path of a project, a line each: files of agents, and the notes of
        its `memory`.
        """
        home, environ = self.environment.agent_home, self.environment.environ
        holders = [it for each in SUPPORTED for it in each.path_holders(project, home, environ)]
        notes = (os.path.join(memory, it) for it in sorted(list_names(memory)) if is_note(it))
        holders += (PathHolder(it, "note") for it in notes if holds_path(it, project))
        return tuple(f"{holder.path} ({holder.about})" for holder in holders)


def map_projects(environment: Environment, step: Step = lambda phase: None) -> list[ProjectMap]:
    """Return the projects of each agent that keeps folders for them."""
    home, environ = environment.agent_home, environment.environ
    surveyed: set[str] = set()
    for support in SUPPORTED:
        step(f"reading sessions of {support.agent.shown}" if support.agent else "reading sessions")
        surveyed |= support.survey(home, environ).cwds
    maps: list[ProjectMap] = []
    for support in SUPPORTED:
        folders = support.project_folders(home, environ)
        if not folders:
            continue
        named = {path for folder in folders for path in (*folder.cwds, *folder.owners)}
        known = support.known_projects(home, environ)
        here = {environment.cwd} if git.find_top_level(environment.cwd) else set[str]()
        paths = sorted({*named, *surveyed, *known, *here})
        roots = dict.fromkeys(find_workplace(path).root for path in paths if os.path.isdir(path))
        maps.append(ProjectMap(support, environment, folders, list(roots)))
    return maps


def find_nearest_folder(path: str) -> str:
    """Return the nearest folder around `path` that is there; "" for a path of another system."""
    above = os.path.dirname(path)
    while above and not os.path.isdir(above):
        above = os.path.dirname(above)
    return above


def digest_notes(root: str) -> frozenset[bytes]:
    """Return the digests of the notes in a directory."""
    names = sorted(filter(is_note, list_names(root)))[:_MOST_NOTES]
    raws = (read_plain_file(os.path.join(root, name), _LARGEST_NOTE) for name in names)
    return frozenset(blake2b(raw, digest_size=16).digest() for raw in raws if raw)


def read_origins(root: str) -> Mapping[str, str]:
    """Return the notes in a directory that name the session which wrote them, with its id."""
    origins: dict[str, str] = {}
    for name in sorted(filter(is_note, list_names(root)))[:_MOST_NOTES]:
        raw = read_plain_file(os.path.join(root, name), _LARGEST_HEAD) or b""
        mark, _, rest = raw.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
        head = rest.partition(b"\n---")[0] if mark.rstrip() == b"---" else b""
        if match := _ORIGIN.search(head):
            origins[name] = match[1].decode()
    return origins


def list_names(root: str) -> Sequence[str]:
    """Return the names in a directory; none if it cannot be listed."""
    try:
        return os.listdir(root)
    except OSError:
        return ()


def is_note(name: str) -> bool:
    """Return whether a file of that name is a note of a memory."""
    return name.endswith(".md") and name.lower() not in ("memory.md", "readme.md")


def is_inside(path: str, folder: str) -> bool:
    """Return whether `path` is below `folder`."""
    return path.startswith(os.path.join(folder, ""))


def is_at(path: str, folder: str) -> bool:
    """Return whether `path` is `folder` or below it."""
    return path == folder or is_inside(path, folder)
