"""The repository of a project: commit, branch, uncommitted files, unpushed commits, history."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

from ricordo import git
from ricordo.handoff.facts import GitState
from ricordo.storage.project_tree import is_in_git

_STATUS = ("--porcelain=v2", "--branch", "--untracked-files=all", "-z")
_FIELDS_BEFORE_PATH = {"1": 8, "2": 9, "u": 10, "?": 1}
"""How many fields come before the path in each kind of line (git-status, porcelain format 2)."""
_RENAMED = "2"


def read_git_state(project: str) -> GitState | None:
    """Return the state of the repository that contains the directory `project`; None where none
    does or git fails.
    """
    if not is_in_git(project):
        return None
    # files beside the project are not part of it
    output = git.run_git(project, "status", *_STATUS, "--", ".")
    if output is None:
        return None
    lines = list(map(os.fsdecode, output.split(b"\0")))
    headers = dict(line[2:].partition(" ")[::2] for line in takewhile(_is_header, lines))
    commit, branch = headers.get("branch.oid", ""), headers.get("branch.head", "")
    commit = "" if commit == "(initial)" else commit
    return GitState(
        commit,
        "" if branch == "(detached)" else branch,
        tuple(_relative_to_project(project, _list_dirty(lines))),
        _parse_ahead(headers.get("branch.ab", "")),
        _read_subject(project) if commit else "",
    )


def describe_unpushed(state: GitState) -> str:
    """Return how many commits are not pushed, in words; "" where none is, or it is unknown."""
    commits = "commit" if state.unpushed == 1 else "commits"
    return f"{state.unpushed} {commits} not pushed" if state.unpushed else ""


def find_unpushed(text: str) -> str:
    """Return the part of a text that says how many commits are not pushed; "" without one."""
    match = _UNPUSHED.search(text)
    return match[0] if match else ""


_UNPUSHED = re.compile(r"\b\d{1,9} commits? not pushed\b")


def _is_header(line: str) -> bool:
    return line.startswith("# ")


def _list_dirty(lines: list[str]) -> Iterator[str]:
    """Yield the paths that `git status` names, from the top of the repository."""
    rows = iter(lines)
    for line in rows:
        kind = line[:1]
        if kind not in _FIELDS_BEFORE_PATH:
            continue
        fields = line.split(" ", _FIELDS_BEFORE_PATH[kind])
        yield fields[-1]
        if kind == _RENAMED:
            # the old name of a renamed file
            yield next(rows, "")


def _relative_to_project(project: str, paths: Iterable[str]) -> Iterator[str]:
    """Yield paths of the repository relative to the project, which may be a folder of it."""
    real = os.path.realpath(project)
    folder = os.path.relpath(real, git.find_top_level(project) or real)
    above = "" if folder == "." else f"{folder}/"
    for path in paths:
        is_below = path.startswith(above)
        # a file that was moved here may have been beside the project
        yield path.removeprefix(above) if is_below else os.path.relpath(path, folder)


def _parse_ahead(ahead_behind: str) -> int | None:
    """Return how many commits the upstream does not have: the first number of `+1 -0`."""
    ahead = ahead_behind.split(" ")[0]
    return int(ahead[1:]) if ahead[1:].isdigit() else None


def _read_subject(project: str) -> str:
    output = git.run_git(project, "log", "-1", "--format=%s")
    return (output or b"").decode("utf-8", "replace").strip()


MAX_COMMITS = 200
_COMMIT = re.compile(r"[0-9a-f]{12,64}\Z")
_NAMES = ("-z", "--relative", "--format=", "--name-only", "--no-renames")
_MARK = "\x01"


class ProjectCommit(NamedTuple):
    """One commit."""

    id: str
    """The full id."""
    subject: str


def list_files_committed_since(project: str, at: float) -> frozenset[str] | None:
    """Return the paths that commits later than `at`, in seconds since 1970, changed; None where git
    fails.
    """
    arguments = (f"--since=@{int(at)}", "-n", str(MAX_COMMITS), *_NAMES)
    output = git.run_git(project, "log", *arguments)
    if output is None:
        return None
    return frozenset(filter(None, os.fsdecode(output).replace("\n", "\0").split("\0")))


def has_commit(project: str, commit: str) -> bool:
    """Return whether the repository has this commit, checked out or not."""
    return bool(_COMMIT.match(commit)) and _read_commit(project, commit) is not None


def is_ancestor(project: str, commit: str) -> bool:
    """Return whether a known `commit` is in the history of what is checked out."""
    missing = _run_log(project, "-n", "1", "--format=%H", f"HEAD..{commit}")
    return missing is not None and not missing.strip()


def list_commits_since(project: str, commit: str) -> tuple[ProjectCommit, ...]:
    """Return the commits since a known `commit`, newest first: those in the history of what is
    checked out and not in that of `commit`.
    """
    arguments = ("-n", str(MAX_COMMITS), f"--format=%H{_MARK}%s", f"{commit}..HEAD")
    lines = (_run_log(project, *arguments) or "").split("\n")
    return tuple(ProjectCommit(*line.split(_MARK, 1)) for line in lines if _MARK in line)


def list_differences(project: str, commit: str) -> Iterator[tuple[str, str, str]]:
    """Yield the differences between a known `commit` and what is checked out: `A`, `D`, `M`, `R` or
    another letter of git-diff-tree(1), the path, and for `R` the new one.
    """
    arguments = ("-r", "-z", "-M", "--relative", "--name-status", commit, "HEAD", "--")
    fields = iter(os.fsdecode(git.run_git(project, "diff-tree", *arguments) or b"").split("\0"))
    for status in fields:
        if status:
            letter, path = status[0], next(fields, "")
            yield letter, path, next(fields, "") if letter in "RC" else ""


def list_committed(project: str, paths: Collection[str]) -> frozenset[str]:
    """Return which of the `paths` the checked-out commit has; a file that is only staged is not
    one.
    """
    arguments = ("-z", "--name-only", "HEAD", "--", *paths)
    output = git.run_git(project, "ls-tree", *arguments) if paths else None
    return frozenset(filter(None, os.fsdecode(output or b"").split("\0")))


def _read_commit(project: str, commit: str) -> str | None:
    return _run_log(project, "-n", "1", "--format=%H", commit, "--")


def _run_log(project: str, *arguments: str) -> str | None:
    output = git.run_git(project, "log", *arguments)
    return None if output is None else output.decode("utf-8", "replace")
