"""What git tells of a project's commits, for handoffs: which came since, and what they changed.

What is asked of git is of our own making: a commit that a document names is a number in
hexadecimal, or it is not asked about.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from ricordo import git

MOST_COMMITS = 200
_COMMIT = re.compile(r"[0-9a-f]{12,64}\Z")
_NAMES = ("-z", "--relative", "--format=", "--name-only", "--no-renames")
_MARK = "\x01"


class Commit(NamedTuple):
    """One commit."""

    id: str
    """In full."""
    subject: str


def committed_since(project: str, at: float) -> frozenset[str] | None:
    """Return the paths that commits of later than `at`, in seconds since 1970, changed; None where
    git does not tell.
    """
    words = (f"--since=@{int(at)}", "-n", str(MOST_COMMITS), *_NAMES)
    told = git.ask(project, "log", *words)
    if told is None:
        return None
    return frozenset(filter(None, os.fsdecode(told).replace("\n", "\0").split("\0")))


def is_known(project: str, commit: str) -> bool:
    """Say whether the repository has this commit, checked out or not."""
    return bool(_COMMIT.match(commit)) and _one(project, commit) is not None


def is_behind(project: str, commit: str) -> bool:
    """Say whether a known `commit` is in the history of what is checked out."""
    left = _asked(project, "-n", "1", "--format=%H", f"HEAD..{commit}")
    return left is not None and not left.strip()


def commits_since(project: str, commit: str) -> tuple[Commit, ...]:
    """Return the commits, newest first, that are in the history of what is checked out and not in
    that of a known `commit`.
    """
    words = ("-n", str(MOST_COMMITS), f"--format=%H{_MARK}%s", f"{commit}..HEAD")
    lines = (_asked(project, *words) or "").split("\n")
    return tuple(Commit(*line.split(_MARK, 1)) for line in lines if _MARK in line)


def changed_between(project: str, commit: str) -> Iterator[tuple[str, str, str]]:
    """Yield what differs between a known `commit` and what is checked out: `A`, `D`, `M`, `R` or
    another letter of git-diff-tree(1), the path, and for `R` the new one.
    """
    words = ("-r", "-z", "-M", "--relative", "--name-status", commit, "HEAD", "--")
    told = iter(os.fsdecode(git.ask(project, "diff-tree", *words) or b"").split("\0"))
    for status in told:
        if status:
            letter, path = status[0], next(told, "")
            yield letter, path, next(told, "") if letter in "RC" else ""


def checked_in(project: str, paths: Collection[str]) -> frozenset[str]:
    """Return which of the `paths` the commit has that is checked out; one that is only staged is
    none of them.
    """
    words = ("-z", "--name-only", "HEAD", "--", *paths)
    told = git.ask(project, "ls-tree", *words) if paths else None
    return frozenset(filter(None, os.fsdecode(told or b"").split("\0")))


def _one(project: str, commit: str) -> str | None:
    return _asked(project, "-n", "1", "--format=%H", commit, "--")


def _asked(project: str, *words: str) -> str | None:
    told = git.ask(project, "log", *words)
    return None if told is None else told.decode("utf-8", "replace")
