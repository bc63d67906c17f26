"""Find the memories in the folders of a project by looking through them, within limits.

A project has no one place for the memory that its agents keep in the repository. Each folder below
is looked at once: what counts is its name and the names in it, and no file is read.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ricordo.agents.folder import PROJECT_FILES, has_notes
from ricordo.agents.wiki import is_whole_wiki
from ricordo.storage.project_tree import FOREIGN_FOLDERS

MEMORY_NAMES = frozenset(("memory", "memories", ".memory", ".memories", "memory-bank"))
"""Names of memories at the top of a project, in its documentation, or in a folder of an agent."""
DOCS_NAMES = ("docs", "doc")
"""Names of the folder of a project's documentation."""
AGENT_NAMES = frozenset(("agent", "agents", "ai", ".agent", ".agents", ".ai"))
"""Names of folders that hold what several agents use; the registry adds those of each agent."""
INDEX = "MEMORY.md"
"""The index that makes any folder with notes beside it a memory."""

MOST_FOLDERS = 2_500
MOST_ENTRIES = 30_000
MAX_DEPTH = 8
"""Limits of one search: a checkout of any size is searched in some tens of milliseconds."""

_WIKI = re.compile(r"(?:.*[-_. ])?wiki(?:[-_. ].*)?", re.IGNORECASE)
"""Names of a folder that holds a wiki."""
_WIKI_FILES = frozenset(("index.md", "log.md"))
_HIDDEN = frozenset((".memory", ".memories", ".wiki", *AGENT_NAMES))
"""Hidden folders that are looked through besides those of agents."""
_NEVER = frozenset(
    (
        *FOREIGN_FOLDERS,
        # the registry finds the memories of sub-agents; a worktree is another checkout
        *("agent-memory", "agent-memory-local", "worktrees"),
    )
)
"""Folders that are not looked through, in lower case."""
_NOT_REAL = re.compile(
    r"[._]*(?:templates?|fixtures?|tests?|testdata|examples?|samples?)(?:[-_. ].*)?", re.IGNORECASE
)
"""Names of folders that hold no memory of the project, but one to copy, to test or to show."""

PLACES_SOUGHT = (
    "memory or memories at the top, in docs or in an agent's folder",
    f"any folder with a {INDEX} beside notes",
    "a wiki one level down",
)
"""What a search looks for, as users read it."""


class Discovery(NamedTuple):
    """The result of one search."""

    roots: tuple[str, ...]
    """The memories: nearest to the top first, then by path."""
    folders: int
    """Number of folders that were looked at."""
    is_complete: bool
    """Whether all folders were looked at."""


class _Folder(NamedTuple):
    path: str
    depth: int
    """Levels below the top, which has 0."""
    above: str
    """Name of the folder that holds it; "" at the top."""


def find_in_folders(top: str, agent_folders: Collection[str] = ()) -> Discovery:
    """Return the memories in the folders below `top`, a directory with its real path.

    `agent_folders` are names of folders in which agents keep their own files. Links are not
    followed, and folders of other repositories are not looked through.
    """
    search = _FolderSearch(frozenset(agent_folders) | AGENT_NAMES)
    # usual places first: in a huge project a search ends before it comes to all of them
    return search.run(top, list_known_folders(top, agent_folders))


def list_known_folders(top: str, agent_folders: Collection[str] = ()) -> list[str]:
    """Return the folders of a project that hold a memory by their names alone: those at the top,
    in its documentation, and in the folders of agents at its top.
    """
    homes = ("", *DOCS_NAMES, *sorted({*agent_folders, *AGENT_NAMES}))
    paths = (os.path.join(top, home, name) for home in homes for name in sorted(MEMORY_NAMES))
    return [path for path in paths if os.path.isdir(path) and has_notes(path)]


class _FolderSearch:
    def __init__(self, agent_folders: frozenset[str]) -> None:
        self._agent_folders = agent_folders
        self._folders = self._entries = 0
        self._is_complete = True

    def run(self, top: str, known: Sequence[str]) -> Discovery:
        roots = dict.fromkeys(known)
        queue = deque([_Folder(top, 0, "")])
        while queue:
            if self._folders >= MOST_FOLDERS or self._entries >= MOST_ENTRIES:
                self._is_complete = False
                break
            folder = queue.popleft()
            names, subfolders = self._list(folder.path)
            if folder.depth and ".git" in names:
                continue
            if folder.depth and self._is_memory(folder, names, subfolders):
                roots[folder.path] = None
            elif folder.depth < MAX_DEPTH:
                name = os.path.basename(folder.path) if folder.depth else ""
                queue.extend(
                    _Folder(os.path.join(folder.path, inner), folder.depth + 1, name)
                    for inner in sorted(subfolders)
                    if self._is_walked(inner)
                )
        in_order = sorted(roots, key=lambda root: (root.count(os.sep), root))
        return Discovery(tuple(in_order), self._folders, self._is_complete)

    def _list(self, path: str) -> tuple[set[str], set[str]]:
        """Return the names in a folder, and those of its folders; none if it cannot be listed."""
        names: set[str] = set()
        subfolders: set[str] = set()
        self._folders += 1
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    names.add(entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        subfolders.add(entry.name)
        except OSError:
            pass
        self._entries += len(names)
        return names, subfolders

    def _is_memory(self, folder: _Folder, names: set[str], subfolders: set[str]) -> bool:
        if INDEX in names and any(_is_note(name) for name in names - {INDEX}):
            return True
        name = os.path.basename(folder.path)
        if name.lower() in MEMORY_NAMES and self._is_home(folder):
            return has_notes(folder.path)
        if folder.depth > 1 and not (folder.depth == 2 and folder.above in DOCS_NAMES):
            return False
        if is_whole_wiki(frozenset(names).union(f"{inner}/" for inner in subfolders)):
            return True
        if _WIKI.fullmatch(name):
            return has_notes(folder.path)
        return names >= _WIKI_FILES

    def _is_home(self, folder: _Folder) -> bool:
        """Return whether memories are kept where `folder` is."""
        is_of_docs = folder.depth == 2 and folder.above in DOCS_NAMES
        return folder.depth == 1 or is_of_docs or folder.above in self._agent_folders

    def _is_walked(self, name: str) -> bool:
        if name.lower() in _NEVER or _NOT_REAL.fullmatch(name):
            return False
        return name[0] != "." or name in _HIDDEN or name in self._agent_folders


def _is_note(name: str) -> bool:
    return name.endswith(".md") and name[0] != "." and name.lower() not in PROJECT_FILES


def describe_search(discovery: Discovery) -> str:
    """Return what a search without results looked for, as the end of a sentence."""
    some = "" if discovery.is_complete else "the first "
    folders = "folder" if discovery.folders == 1 else "folders"
    return f"{some}{discovery.folders:,} {folders} of the project ({'; '.join(PLACES_SOUGHT)})"
