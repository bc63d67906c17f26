"""A project for claim checks: its files, words and git history, each read once."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from functools import cache, cached_property
from typing import NamedTuple

from ricordo import git
from ricordo.lint.claims.instructions import Instructions
from ricordo.lint.claims.manifests import Manifests
from ricordo.storage.project_tree import ProjectTree
from ricordo.storage.project_words import ProjectWords
from ricordo.text import make_one_line

_SECONDS = 4.0
"""Per git command: the longest that closing the app has to wait."""
_MOST_COMMITS_COMPARED = 100
"""Commits searched for renames, for which git compares their files."""
_MOST_COMMITS = 50_000
_MARK = "\x01"
_LONGEST_CHAIN = 8
_MARGIN = 180 * 24 * 3600
"""Seconds."""


class FileCommit(NamedTuple):
    """One commit."""

    id: str
    """Abbreviated as git does it."""
    at: int
    """When it was committed, in seconds since the epoch."""
    subject: str

    @property
    def summary(self) -> str:
        """Its id, day and subject, in one line."""
        day = date.fromtimestamp(self.at).isoformat()
        return f"{self.id} {day} {make_one_line(self.subject[:80])}"


class ProjectHistory:
    """The git history of what is checked out at `root`; empty without git."""

    def __init__(self, root: str, commit: str, now: float) -> None:
        """`commit` is the one checked out, "" without git; commits after `now`, in seconds since
        the epoch, do not count. Runs no git yet.
        """
        self._root = root
        self._now = now
        self._commit = commit
        self._renames: dict[str, Mapping[str, str]] = {}
        self._touched: Mapping[str, list[FileCommit]] = {}
        self.is_final = True
        """Whether a later check of the same commit will find the same: git answered, and no commit
        was left out because it is of the future.
        """
        self._touched_from = float("inf")
        """The moment from which `_touched` is complete."""

    @cached_property
    def deleted(self) -> Mapping[str, FileCommit]:
        """The last commit that deleted each path, even if the path was added again later."""
        commits: dict[str, FileCommit] = {}
        for commit, paths in self._log("--diff-filter=D"):
            for path in paths:
                commits.setdefault(path, commit)
        return commits

    @cached_property
    def _gone_by_name(self) -> Mapping[str, list[str]]:
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in self.deleted:
            for part in {path.rpartition("/")[2], *path.split("/")[:-1]}:
                by_name[part].append(path)
        return by_name

    def find_deleted(self, path: str) -> list[str]:
        """Return the paths of deleted files that `path` may mean: itself, one that ends with it, or
        for a folder the files in it; newest first.
        """
        wanted = f"/{path.rstrip('/')}"
        inside = f"{wanted}/"
        near = self._gone_by_name.get(path.rstrip("/").rpartition("/")[2], ())
        return [old for old in near if f"/{old}".endswith(wanted) or inside in f"/{old}/"]

    def find_new_path(self, path: str) -> str:
        """Return the last path to which git knows the deleted file at `path` was moved; "" where it
        was not moved.
        """
        at, seen = path, {path}
        for _ in range(_LONGEST_CHAIN):
            commit = self.deleted.get(at)
            onward = self._renamed_in(commit.id).get(at, "") if commit else ""
            if not onward or onward in seen:
                break
            seen.add(onward)
            at = onward
        return at if at != path else ""

    def find_commits(self, path: str, after: float) -> list[FileCommit]:
        """Return the commits that touched `path` after a moment, in seconds since the epoch; newest
        first.
        """
        if after < self._touched_from:
            # the oldest note of a memory is seldom checked first
            self._touched_from = after - _MARGIN
            self._touched = self._touched_since(int(self._touched_from))
        return [commit for commit in self._touched.get(path, ()) if commit.at > after]

    def _touched_since(self, moment: int) -> Mapping[str, list[FileCommit]]:
        touched: dict[str, list[FileCommit]] = defaultdict(list)
        for commit, paths in self._log(f"--since=@{moment}"):
            if commit.at > self._now:
                self.is_final = False
                continue
            for path in paths:
                touched[path].append(commit)
        return touched

    def _log(self, *arguments: str) -> Iterator[tuple[FileCommit, list[str]]]:
        if not self._commit:
            return
        answer = git.run_git(
            self._root,
            "log",
            "--no-renames",
            "--name-only",
            "--relative",
            "-z",
            f"--max-count={_MOST_COMMITS}",
            f"--format={_MARK}%h{_MARK}%ct{_MARK}%s",
            *arguments,
            seconds=_SECONDS,
        )
        self.is_final = self.is_final and answer is not None
        yield from _parse_log((answer or b"").decode("utf-8", "surrogateescape").split("\0"))

    def _renamed_in(self, commit: str) -> Mapping[str, str]:
        """Return the new paths of the files that `commit` moved, by their old ones."""
        if commit not in self._renames:
            if len(self._renames) >= _MOST_COMMITS_COMPARED:
                return {}
            wanted = ("-r", "-M", "-z", "--relative", "--diff-filter=R", "--name-status")
            answer = git.run_git(
                self._root, "diff-tree", "--no-commit-id", *wanted, commit, seconds=_SECONDS
            )
            self.is_final = self.is_final and answer is not None
            words = (answer or b"").decode("utf-8", "surrogateescape").split("\0")
            self._renames[commit] = dict(zip(words[1::3], words[2::3], strict=False))
        return self._renames[commit]


def _parse_log(words: Iterable[str]) -> Iterator[tuple[FileCommit, list[str]]]:
    commit: FileCommit | None = None
    paths: list[str] = []
    for word in words:
        if word.startswith(_MARK):
            if commit is not None:
                yield commit, paths
            _, short, at, subject = (*word.split(_MARK, 3), "", "", "")[:4]
            commit, paths = FileCommit(short, int(at) if at.isdigit() else 0, subject), []
        elif word.strip("\n"):
            paths.append(word.lstrip("\n"))
    if commit is not None:
        yield commit, paths


@cache
def parse_end_of_day(stamp: str) -> float | None:
    """Return the end of the day of a date in a note, in seconds since the epoch: work is committed
    after its note is written. None where it is no ISO 8601 date.
    """
    try:
        return datetime.fromisoformat(stamp).replace(hour=23, minute=59, second=59).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


class AskedFacts:
    """What was asked about a project besides which files it has."""

    def __init__(self) -> None:
        self.exists: dict[str, bool | None] = {}
        """The answers on paths that are not listed, such as those that git ignores."""
        self.read: set[str] = set()
        """The files of which the text was used."""
        self.words: set[str] = set()
        """The words by which files were searched."""


class Project:
    """One project at one moment."""

    def __init__(
        self,
        tree: ProjectTree,
        words: ProjectWords,
        history: ProjectHistory,
        memory_root: str,
        own_names: Iterable[str],
    ) -> None:
        """`own_names` are the file names of the memory: a note that names one means the memory, not
        the project.
        """
        self.tree = tree
        self.words = words
        self.history = history
        self.memory_names = frozenset(own_names)
        inside = self.to_relative(memory_root)
        self.memory_folder = f"{inside}/" if inside else ""
        """The memory's folder in the project, which is no evidence for claims of notes."""
        self._lines: dict[str, int | None] = {}
        self._presence: dict[str, bool] = {}
        self.asked = AskedFacts()
        """What the checks of one note asked besides the listed files; the caller replaces it."""

    def to_relative(self, path: str) -> str | None:
        """Return an absolute `path` relative to the project; None where it is outside."""
        root = self.tree.root.rstrip("/")
        for spelling in (root, os.path.realpath(root)):
            if path.startswith(f"{spelling}/"):
                return path.removeprefix(f"{spelling}/")
        return None

    def search_words(self, words: Iterable[str]) -> None:
        """Search the project for all `words` at once, which is faster than one by one."""
        unknown = {word for word in words if word not in self._presence}
        if unknown:
            present = self.words.find_present(unknown, self.memory_folder)
            self._presence.update((word, word in present) for word in unknown)

    def has_word(self, word: str) -> bool:
        """Return whether any file of the project outside the memory contains `word`."""
        self.search_words((word,))
        return self._presence[word]

    def exists(self, path: str) -> bool | None:
        """Return what `ProjectTree.exists` returns."""
        answer = self.asked.exists[path] = self.tree.exists(path)
        return answer

    def find_files(self, word: str, most: int) -> list[str]:
        """Return up to `most` files that contain `word`, ordered by path."""
        self.asked.words.add(word)
        return self.words.find_files(word, most)

    def count_lines(self, path: str) -> int | None:
        """Return the number of lines of a file; None where it is binary or not readable whole."""
        self.asked.read.add(path)
        if path not in self._lines:
            stamp = self.tree.files[path]
            raw = self.tree.read(path) or b""
            is_whole = len(raw) == stamp.size and b"\0" not in raw
            lines = len(raw.split(b"\n")) - (not raw or raw.endswith(b"\n"))
            self._lines[path] = lines if is_whole else None
        return self._lines[path]

    def load_text(self, path: str) -> str:
        """Return the text of a file; "" where it cannot be read."""
        self.asked.read.add(path)
        return (self.tree.read(path) or b"").decode("utf-8", "replace")

    @cached_property
    def by_stem(self) -> dict[str, str]:
        """A file by every tail of its path, without the extension of its name."""
        by_stem: dict[str, str] = {}
        for path in self.tree.files:
            stem = path.rpartition(".")[0] if "." in path.rpartition("/")[2] else path
            parts = stem.split("/")
            for count in range(1, min(len(parts), 6)):
                by_stem.setdefault("/".join(parts[-count - 1 :]), path)
        return by_stem

    @cached_property
    def manifests(self) -> Manifests:
        """The declarations of the project's manifests."""
        return Manifests.from_tree(self.tree)

    @cached_property
    def instructions(self) -> Instructions:
        """The project's instructions to agents, line by line."""
        return Instructions.from_tree(self.tree)
