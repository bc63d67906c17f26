"""The repository of a project as git tells it now: the commit, the branch, what is not committed
and what is not pushed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from ricordo import git
from ricordo.disk.project_tree import is_in_git
from ricordo.handoff.facts import GitState

_STATUS = ("--porcelain=v2", "--branch", "--untracked-files=all", "-z")
_FIELDS_BEFORE_PATH = {"1": 8, "2": 9, "u": 10, "?": 1}
"""How many fields stand before the path in a line of each kind (git-status, porcelain format 2)."""
_RENAMED = "2"


def git_state(project: str) -> GitState | None:
    """Return the state of the repository that holds the directory `project`; None where none does
    or git does not answer.
    """
    if not is_in_git(project):
        return None
    # what lies beside the project is none of its files
    told = git.ask(project, "status", *_STATUS, "--", ".")
    if told is None:
        return None
    lines = list(map(os.fsdecode, told.split(b"\0")))
    heads = dict(line[2:].partition(" ")[::2] for line in takewhile(_is_head, lines))
    commit, branch = heads.get("branch.oid", ""), heads.get("branch.head", "")
    commit = "" if commit == "(initial)" else commit
    return GitState(
        commit,
        "" if branch == "(detached)" else branch,
        tuple(_inside(project, _dirty(lines))),
        _unpushed(heads.get("branch.ab", "")),
        _subject(project) if commit else "",
    )


def told_unpushed(state: GitState) -> str:
    """Return how many commits are not pushed, in words; "" where none is, or nobody knows."""
    commits = "commit" if state.unpushed == 1 else "commits"
    return f"{state.unpushed} {commits} not pushed" if state.unpushed else ""


def find_unpushed(told: str) -> str:
    """Return what a text has of `told_unpushed`; "" where nothing."""
    found = _UNPUSHED.search(told)
    return found[0] if found else ""


_UNPUSHED = re.compile(r"\b\d{1,9} commits? not pushed\b")


def _is_head(line: str) -> bool:
    return line.startswith("# ")


def _dirty(lines: list[str]) -> Iterator[str]:
    """Yield the paths that `git status` names, from the top of the repository."""
    following = iter(lines)
    for line in following:
        kind = line[:1]
        if kind not in _FIELDS_BEFORE_PATH:
            continue
        fields = line.split(" ", _FIELDS_BEFORE_PATH[kind])
        yield fields[-1]
        if kind == _RENAMED:
            # the name that it had before
            yield next(following, "")


def _inside(project: str, paths: Iterable[str]) -> Iterator[str]:
    """Yield paths of the repository as those of the project, which may be a folder of it."""
    real = os.path.realpath(project)
    folder = os.path.relpath(real, git.top_level(project) or real)
    above = "" if folder == "." else f"{folder}/"
    for path in paths:
        is_below = path.startswith(above)
        # a file that was moved here may have lain beside the project
        yield path.removeprefix(above) if is_below else os.path.relpath(path, folder)


def _unpushed(ahead_behind: str) -> int | None:
    """Return how many commits the upstream has not: the first number of `+1 -0`."""
    ahead = ahead_behind.split(" ")[0]
    return int(ahead[1:]) if ahead[1:].isdigit() else None


def _subject(project: str) -> str:
    told = git.ask(project, "log", "-1", "--format=%s")
    return (told or b"").decode("utf-8", "replace").strip()
