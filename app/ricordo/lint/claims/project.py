"""A project as probes see it: its files, words and past, each looked up once."""

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
from ricordo.text import one_line

_SECONDS = 4.0
"""Of one question: nobody who leaves waits longer."""
_MOST_COMMITS_COMPARED = 100
"""Commits that are searched for renames, which takes git the comparison of their files."""
_MOST_COMMITS = 50_000
_MARK = "\x01"
_LONGEST_CHAIN = 8
_MARGIN = 180 * 24 * 3600
"""Seconds."""


class FileCommit(NamedTuple):
    """One commit."""

    id: str
    """Abbreviated, as git does it."""
    at: int
    """When it was committed, in seconds since the epoch."""
    subject: str

    @property
    def shown(self) -> str:
        """Its id, day and subject, in one line."""
        return f"{self.id} {date.fromtimestamp(self.at).isoformat()} {one_line(self.subject[:80])}"


class ProjectHistory:
    """The commits that lead to what is checked out at `root`; without git it knows nothing."""

    def __init__(self, root: str, commit: str, now: float) -> None:
        """`commit` is what is checked out, "" without git; `now`, in seconds since the epoch, is
        when time ends. Nothing is asked yet.
        """
        self._root = root
        self._now = now
        self._commit = commit
        self._renames: dict[str, Mapping[str, str]] = {}
        self._touched: Mapping[str, list[FileCommit]] = {}
        self._touched_from = float("inf")
        """Since when it is known which commits touched what."""

    @cached_property
    def gone(self) -> Mapping[str, FileCommit]:
        """The last commit that deleted each path, those too that came back later."""
        found: dict[str, FileCommit] = {}
        for commit, paths in self._log("--diff-filter=D"):
            for path in paths:
                found.setdefault(path, commit)
        return found

    @cached_property
    def _gone_by_name(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in self.gone:
            for part in {path.rpartition("/")[2], *path.split("/")[:-1]}:
                found[part].append(path)
        return found

    def last_paths(self, path: str) -> list[str]:
        """Return the paths of deleted files that `path` may have meant: itself, one that ends so,
        or for a folder those that lay in it; newest first.
        """
        wanted = f"/{path.rstrip('/')}"
        inside = f"{wanted}/"
        near = self._gone_by_name.get(path.rstrip("/").rpartition("/")[2], ())
        return [old for old in near if f"/{old}".endswith(wanted) or inside in f"/{old}/"]

    def new_name(self, path: str) -> str:
        """Return where the deleted file at `path` was moved to in the end, as git tells it; ""
        where it was not moved.
        """
        at, seen = path, {path}
        for _ in range(_LONGEST_CHAIN):
            commit = self.gone.get(at)
            onward = self._renamed_in(commit.id).get(at, "") if commit else ""
            if not onward or onward in seen:
                break
            seen.add(onward)
            at = onward
        return at if at != path else ""

    def commits_on(self, path: str, after: float) -> list[FileCommit]:
        """Return the commits that touched `path` after a moment, in seconds since the epoch; newest
        first.
        """
        if after < self._touched_from:
            # the oldest note of a memory is seldom the first that is asked for
            self._touched_from = after - _MARGIN
            self._touched = self._touched_since(int(self._touched_from))
        return [commit for commit in self._touched.get(path, ()) if commit.at > after]

    def _touched_since(self, moment: int) -> Mapping[str, list[FileCommit]]:
        found: dict[str, list[FileCommit]] = defaultdict(list)
        for commit, paths in self._log(f"--since=@{moment}"):
            for path in paths if commit.at <= self._now else ():
                found[path].append(commit)
        return found

    def _log(self, *arguments: str) -> Iterator[tuple[FileCommit, list[str]]]:
        if not self._commit:
            return
        answer = git.ask(
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
        yield from _commits((answer or b"").decode("utf-8", "surrogateescape").split("\0"))

    def _renamed_in(self, commit: str) -> Mapping[str, str]:
        """The new paths of the files that `commit` moved, by their old ones."""
        if commit not in self._renames:
            if len(self._renames) >= _MOST_COMMITS_COMPARED:
                return {}
            wanted = ("-r", "-M", "-z", "--relative", "--diff-filter=R", "--name-status")
            answer = git.ask(
                self._root, "diff-tree", "--no-commit-id", *wanted, commit, seconds=_SECONDS
            )
            words = (answer or b"").decode("utf-8", "surrogateescape").split("\0")
            self._renames[commit] = dict(zip(words[1::3], words[2::3], strict=False))
        return self._renames[commit]


def _commits(words: Iterable[str]) -> Iterator[tuple[FileCommit, list[str]]]:
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
def moment_of(stamp: str) -> float | None:
    """Return up to which moment a date in a note reaches, in seconds since the epoch: the end of
    its day, for the work of which a note tells is committed after it was written. None where it is
    no ISO 8601 date.
    """
    try:
        return datetime.fromisoformat(stamp).replace(hour=23, minute=59, second=59).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


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
        """`own_names` are the names of the files of the memory: a note that names one of them
        speaks of the memory.
        """
        self.tree = tree
        self.words = words
        self.history = history
        self.own_names = frozenset(own_names)
        inside = self.inside(memory_root)
        self.memory = f"{inside}/" if inside else ""
        """The memory's folder in the project, which proves nothing of what notes say."""
        self._lines: dict[str, int | None] = {}
        self._written: dict[str, bool] = {}

    def inside(self, path: str) -> str | None:
        """Return an absolute `path` as one of the project; None where it lies elsewhere."""
        root = self.tree.root.rstrip("/")
        for own in (root, os.path.realpath(root)):
            if path.startswith(f"{own}/"):
                return path.removeprefix(f"{own}/")
        return None

    def look_for(self, words: Iterable[str]) -> None:
        """Find out of all `words` at once whether the project holds them: one by one takes long."""
        unknown = {word for word in words if word not in self._written}
        if unknown:
            found = self.words.among(unknown, self.memory)
            self._written.update((word, word in found) for word in unknown)

    def has_word(self, word: str) -> bool:
        """Say whether any file of the project, but for the memory, holds `word`."""
        self.look_for((word,))
        return self._written[word]

    def lines_of(self, path: str) -> int | None:
        """Return how many lines a file has; None where that is not known."""
        if path not in self._lines:
            stamp = self.tree.files[path]
            raw = self.tree.read(path) or b""
            is_whole = len(raw) == stamp.size and b"\0" not in raw
            lines = len(raw.split(b"\n")) - (not raw or raw.endswith(b"\n"))
            self._lines[path] = lines if is_whole else None
        return self._lines[path]

    def text_of(self, path: str) -> str:
        """Return the text of a file; "" where it cannot be read."""
        return (self.tree.read(path) or b"").decode("utf-8", "replace")

    @cached_property
    def by_stem(self) -> dict[str, str]:
        """A file by every end of its path, without the ending of its name and without `/index`."""
        found: dict[str, str] = {}
        for path in self.tree.files:
            stem = path.rpartition(".")[0] if "." in path.rpartition("/")[2] else path
            parts = stem.split("/")
            for count in range(1, min(len(parts), 6)):
                found.setdefault("/".join(parts[-count - 1 :]), path)
        return found

    @cached_property
    def manifests(self) -> Manifests:
        """What the project's manifests declare."""
        return Manifests.of(self.tree)

    @cached_property
    def instructions(self) -> Instructions:
        """What the project tells its agents, line by line."""
        return Instructions.of(self.tree)
