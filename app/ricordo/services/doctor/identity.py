"""Whether two directories are one project, by git."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from ricordo import git
from ricordo.patterns import compile_lazily
from ricordo.storage.foreign_file import list_subfolders, read_plain_file

_SECONDS = 3.0
"""How long git may take for one answer."""
_MOST_FILES = 2000
"""Files of a repository that are looked for elsewhere, some of all."""
_LARGEST_REFERENCES = 4 * 1024 * 1024
_LONGEST_PATH = 8192
_LARGEST_SETTINGS = 1024 * 1024
_LONGEST_LINE = 4096
_MAY_HAVE_REMOTE = compile_lazily(rb"(?i)\[\s*(?:remote|include)")
_REFLOG_TIME = compile_lazily(rb"> (\d{1,12}) [+-]\d{4}(?:\t|\Z)")


class ProjectIdentity(NamedTuple):
    """By what a project stays the same when it is moved or cloned."""

    remote: str
    """The address of its remote repository, normalised; "" for none."""
    root_commit: str
    """Its first commit; "" where it has none or not all are here."""

    def is_same(self, other: ProjectIdentity) -> bool:
        """Return whether both are certainly one project: by their remotes, else by the first
        commit.
        """
        if self.remote and other.remote:
            return self.remote == other.remote
        return bool(self.root_commit) and self.root_commit == other.root_commit


class Repositories:
    """What git says of projects. Each is asked once, however many it is compared with."""

    def __init__(self) -> None:
        """No project was asked yet."""
        self._remotes: dict[str, str] = {}
        self._identities: dict[str, ProjectIdentity] = {}
        self._commits: dict[str, list[tuple[str, bytes]]] = {}
        self._wanted: dict[str, None] = {}
        self._since = 0.0
        self._times: dict[str, list[int]] = {}
        self._begins: dict[str, int] = {}
        self._branches: dict[str, frozenset[str]] = {}
        self._content: dict[str, list[str]] = {}

    def read_remote(self, project: str) -> str:
        """Return the address of its remote repository, normalised; "" for none."""
        if project not in self._remotes:
            self._remotes[project] = _ask_remote(project)
        return self._remotes[project]

    def read_identity(self, project: str) -> ProjectIdentity:
        """Return the identity of the project in a directory; empty outside a repository."""
        if project not in self._identities:
            self._identities[project] = ProjectIdentity(
                self.read_remote(project), _ask_root_commit(project)
            )
        return self._identities[project]

    def is_one_of(self, project: str, others: Iterable[str]) -> bool:
        """Return whether a project is certainly the same as one of `others`, such as a clone."""
        identity = self.read_identity(project)
        return any(identity.is_same(self.read_identity(other)) for other in others)

    def has_branch(self, project: str, name: str) -> bool:
        """Return whether the repository of a project has a branch of that name."""
        if project not in self._branches:
            self._branches[project] = frozenset(_list_branches(project))
        return name in self._branches[project]

    def has_content(self, project: str, directory: str) -> bool:
        """Return whether a file that the repository of `project` has is in `directory`, too; True
        if no file of it is known. Hidden ones at the top do not count: a shell's `*` leaves them.
        """
        if project not in self._content:
            words = ("ls-tree", "-r", "-z", "--name-only", "HEAD")
            answer = git.run_git(project, *words, seconds=_SECONDS) or b""
            names = [os.fsdecode(it) for it in answer.split(b"\0") if it and it[:1] != b"."]
            self._content[project] = names[:: -(-len(names) // _MOST_FILES) or 1]
        names = self._content[project]
        return not names or any(os.path.lexists(os.path.join(directory, it)) for it in names)

    def has_commit_before(self, project: str, time: str) -> bool:
        """Return whether a repository has commits from before a time; True if that is unknown, as
        in a shallow clone, or where its reflog began earlier.
        """
        if not time or git.find_top_level(project) is None:
            return True
        is_shallow = os.path.lexists(os.path.join(project, ".git", "shallow"))
        at = datetime.fromisoformat(time)
        if is_shallow or 0 < _read_reflog_begin(project) < at.timestamp():
            return True
        return self.read_begin(project) < at

    def read_begin(self, project: str) -> datetime:
        """Return the time of the first commit of a repository; the earliest time if unknown."""
        if project not in self._begins:
            words = ("--max-parents=0", "--format=%ct", "HEAD")
            answer = git.run_git(project, "log", *words, seconds=_SECONDS)
            self._begins[project] = min(map(int, (answer or b"").split()), default=0)
        return datetime.fromtimestamp(self._begins[project], UTC)

    def has_commit_between(self, project: str, first: str, last: str) -> bool:
        """Return whether a repository has commits from a span of time, ISO 8601."""
        if project not in self._times:
            self._times[project] = self._ask_times(project)
        begin, end = (datetime.fromisoformat(it).timestamp() for it in (first, last))
        times = self._times[project]
        at = bisect_left(times, begin)
        return at < len(times) and times[at] <= end

    def _ask_times(self, project: str) -> list[int]:
        if git.find_top_level(project) is None:
            return []
        words = ("--all", "--format=%ct", f"--since={self._since:.0f}")
        answer = git.run_git(project, "log", *words, seconds=_SECONDS) or b""
        return sorted(map(int, answer.split()))

    def expect(self, names: Iterable[str], since: Iterable[str]) -> None:
        """Have `find_commits` look for these names, too, and `has_commit_between` for spans from
        these times on. Only before these are called for the first time.
        """
        assert not self._commits
        assert not self._times
        self._wanted.update(dict.fromkeys(names))
        times = (datetime.fromisoformat(it).timestamp() for it in since)
        self._since = max(0.0, min(times, default=0.0))

    def find_commits(self, project: str, names: Iterable[str]) -> dict[str, bytes]:
        """Return those of the expected `names`, which may be short, that are commits in the
        repository of a project, with their subjects.
        """
        if project not in self._commits:
            self._commits[project] = self._ask_commits(project)
        commits = self._commits[project]
        matches = ((name, it) for name in names for it in commits if it[0].startswith(name))
        return {name: subject for name, (_, subject) in matches}

    def _ask_commits(self, project: str) -> list[tuple[str, bytes]]:
        if not self._wanted or git.find_top_level(project) is None:
            return []
        words = ("--no-walk", "--ignore-missing", "--format=%H %s", *self._wanted, "--")
        answer = git.run_git(project, "log", *words, seconds=_SECONDS) or b""
        lines = (line.partition(b" ") for line in answer.split(b"\n") if line)
        return [(name.decode("ascii", "replace"), subject) for name, _, subject in lines]


def _read_reflog_begin(project: str) -> int:
    """Return when a repository's reflog begins, in seconds since 1970; 0 if that is unknown."""
    reflog = read_plain_file(os.path.join(project, ".git", "logs", "HEAD"), _LONGEST_LINE) or b""
    match = _REFLOG_TIME.search(reflog.partition(b"\n")[0])
    return int(match[1]) if match else 0


def _list_branches(project: str) -> Iterator[str]:
    """Yield the branches of a repository, as gitrepository-layout(5) says where they are."""
    folder = os.path.join(project, ".git", "refs", "heads")
    for above, _, names in os.walk(folder):
        yield from (os.path.relpath(os.path.join(above, name), folder) for name in names)
    packed = read_plain_file(os.path.join(project, ".git", "packed-refs"), _LARGEST_REFERENCES)
    for line in (packed or b"").split(b"\n"):
        _, mark, name = line.partition(b" refs/heads/")
        if mark:
            yield os.fsdecode(name)


def _ask_remote(project: str) -> str:
    if git.find_top_level(project) is None:
        return ""
    settings = read_plain_file(os.path.join(project, ".git", "config"), _LARGEST_SETTINGS)
    if settings is not None and not _MAY_HAVE_REMOTE.search(settings):
        return ""
    answer = git.run_git(project, "config", r"^remote\..*\.url$", seconds=_SECONDS) or b""
    urls: dict[str, str] = {}
    for entry in os.fsdecode(answer).split("\0"):
        key, _, value = entry.partition("\n")
        urls.setdefault(key, value)
    url = urls.get("remote.origin.url") or next(filter(None, urls.values()), "")
    return normalize_remote(url)


def _ask_root_commit(project: str) -> str:
    if git.find_top_level(project) is None:
        return ""
    roots = git.run_git(project, "log", "--max-parents=0", "--format=%H", "HEAD", seconds=_SECONDS)
    commits = (roots or b"").decode("ascii", "replace").split()
    # of a shallow clone the first commit is not here
    is_whole = git.run_git(project, "rev-parse", "--is-shallow-repository") == b"false\n"
    return commits[-1] if commits and is_whole else ""


_ADDRESS = compile_lazily(
    r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/]*@)?([^/:]+)(?::\d+(?=/))?[:/]+(.+)", re.I
)


def normalize_remote(url: str) -> str:
    """Return host and path of the address of a repository, in whatever form it is written; a path
    of this machine as it is.
    """
    address = url.strip().rstrip("/").removesuffix(".git").rstrip("/")
    if address.startswith(("/", "file:", ".", "~")):
        return address.removeprefix("file://")
    match = _ADDRESS.fullmatch(address)
    return f"{match[1]}/{match[2].strip('/')}".lower() if match else address.lower()


def list_worktrees(project: str) -> Iterator[tuple[str, str]]:
    """Yield the directories of the worktrees of which a project's repository has a record, there or
    not, each with that record.
    """
    for record in list_subfolders(os.path.join(project, ".git", "worktrees")):
        named = read_plain_file(os.path.join(record, "gitdir"), _LONGEST_PATH) or b""
        yield os.path.dirname(os.fsdecode(named.strip())), record


def read_worktree_record(directory: str) -> str:
    """Return the record of a repository that a worktree names; "" for none."""
    mark = read_plain_file(os.path.join(directory, ".git"), _LONGEST_PATH) or b""
    named = os.fsdecode(mark.removeprefix(b"gitdir:").strip())
    is_record = mark.startswith(b"gitdir:") and b"\0" not in mark
    return os.path.realpath(os.path.join(directory, named)) if is_record else ""
