"""What the rules of git around a memory say of its files: which it encrypts, and which it keeps out
of every copy.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Container, Iterator, Mapping
from functools import cached_property
from itertools import islice

from ricordo import git
from ricordo.lexicon import read_words
from ricordo.memory.memory import Memory
from ricordo.memory.names import ResolvedLink, TargetKind
from ricordo.storage.foreign_file import read_plain_file

_PATHS_PER_CALL = 1_000
"""Paths per call of git: the length of a command line is limited."""
_MOST_PLACES = 4_000
"""Files that are asked for where the names of missing ones may be in any folder."""
_MOST_FOLDERS = 20
_MOST_RULES = 1 << 16
"""Bytes of a file with rules."""
_SIGNS = frozenset("*?[\\")
"""What makes a rule one for several folders."""
_NOT_SET = frozenset((b"unspecified", b"unset", b""))


class EncryptedFiles(Container[str]):
    """Paths of files of `memory` that have a git filter, as encryption tools set, or are binary by
    git attributes. Their text must not be copied to other files.

    Git runs when the first path is looked up; if it fails, all files count.
    """

    def __init__(self, memory: Memory) -> None:
        self._root = memory.root
        self._files = tuple(file.path for file in memory.files)

    def is_for(self, memory: Memory) -> bool:
        """Return whether `memory` has the same files, whatever their content."""
        files = tuple(file.path for file in memory.files)
        return self._root == memory.root and self._files == files

    def __contains__(self, path: object) -> bool:
        """Return whether the file at `path`, relative to the memory, is one of them."""
        return self._paths is None or path in self._paths

    @cached_property
    def _paths(self) -> frozenset[str] | None:
        if git.find_top_level(self._root) is None:
            return frozenset()
        paths: set[str] = set()
        for start in range(0, len(self._files), _PATHS_PER_CALL):
            batch = self._files[start : start + _PATHS_PER_CALL]
            answer = git.run_git(self._root, "check-attr", "-z", "filter", "binary", "--", *batch)
            if answer is None:
                return None
            fields = answer.split(b"\0")
            pairs = zip(fields[::3], fields[2::3], strict=False)
            paths.update(os.fsdecode(path) for path, value in pairs if value not in _NOT_SET)
        return frozenset(paths)


class IgnoredTargets(Container[str]):
    """Paths of missing targets of the links of `memory` that git ignores by a rule that is not on
    the file with the link, committed or not: where git copied the memory, they stayed behind. So
    did what a sparse checkout leaves out.

    Git runs when the first path is looked up; if it fails, no path is one.
    """

    def __init__(self, memory: Memory) -> None:
        self._root = memory.root
        missing = [
            (source, it)
            for source, links in memory.links_without_file.items()
            for it in links
            if it.target_kind is TargetKind.MISSING
        ]
        folders = {posixpath.dirname(file.path): file.path for file in memory.files}
        if len(missing) * len(folders) > _MOST_PLACES:
            folders = {}
        if memory.indexes and missing:
            absent = islice(_list_absent_folders(memory), _MOST_FOLDERS)
            folders |= dict.fromkeys(absent, memory.indexes[0].path)
        self._links = {
            (it.path, *place)
            for source, it in missing
            for place in _list_places(source, it, folders)
        }

    def is_for(self, memory: Memory) -> bool:
        """Return whether the links of `memory` miss the same targets."""
        return self._root == memory.root and self._links == IgnoredTargets(memory)._links

    def __contains__(self, path: object) -> bool:
        """Return whether `path`, relative to the memory, is one of them."""
        return path in self._paths

    @cached_property
    def _paths(self) -> frozenset[str]:
        top = git.find_top_level(self._root)
        if top is None:
            return frozenset()
        files = sorted({file for _, *pair in self._links for file in pair})
        # git refuses to answer at all if one of them is behind a link or outside
        places = {it: real for it in files if (real := self._resolve(it)).startswith(f"{top}/")}
        found = git.find_ignored(top, list(places.values())) or frozenset()
        ignored = {it for it, real in places.items() if real in found}
        left_out = git.find_left_out(top, list(places.values()))
        sparse = {it for it, real in places.items() if real in left_out}
        return frozenset(
            path
            for path, target, beside in self._links
            if target in sparse or (target in ignored and beside not in ignored)
        )

    def _resolve(self, path: str) -> str:
        """Return where `path` leads, all links followed; "" where it is none."""
        try:
            return os.path.realpath(os.path.join(self._root, path))
        except ValueError:
            return ""


def _list_absent_folders(memory: Memory) -> Iterator[str]:
    """Yield the folders beside those with notes that the rules at the top of the repository name as
    ignored and that are not here: all their files stayed behind. Not those that tools make.
    """
    top = git.find_top_level(memory.root)
    raw = read_plain_file(os.path.join(top, ".gitignore"), _MOST_RULES) if top else None
    rules = (line.strip() for line in (raw or b"").decode("utf-8", "replace").splitlines())
    named = [
        it.strip("/")
        for it in rules
        if it.strip("/") and it.endswith("/") and it[0] not in "#!" and _SIGNS.isdisjoint(it)
    ]
    if not named:
        return
    inside = os.path.relpath(os.path.realpath(memory.root), top)
    parents = {posixpath.dirname(posixpath.dirname(it.path)) for it in memory.notes}
    made = read_words("probes")["made"]["folders"]
    for rule in named:
        folder = os.path.relpath(rule, inside)
        parent, _, name = folder.rpartition("/")
        is_of_pages = parent in parents and name[0] != "." and name not in made
        if is_of_pages and not os.path.isdir(os.path.join(memory.root, folder)):
            yield folder


def _list_places(
    source: str, resolved: ResolvedLink, folders: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the files that a link in the file `source` may mean, each with one that git has to keep
    where it ignores that: a wikilink has no ending, and a name alone or the end of a path may be in
    any of the `folders`, beside the file that each of them is given with.
    """
    path, link = resolved.path, resolved.link
    file = f"{path}.md" if link.is_wikilink and not path.endswith(".md") else path
    yield file, source
    inside = posixpath.dirname(link.target)
    for folder, beside in folders.items() if link.is_wikilink else ():
        if not inside or f"/{folder}".endswith(f"/{inside}"):
            yield posixpath.join(folder, posixpath.basename(file)), beside
