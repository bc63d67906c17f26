"""Whether two directories are one project: by git, and for one that is gone by what its sessions
left in their transcripts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from ricordo import git
from ricordo.agents.registry import list_instruction_files
from ricordo.patterns import compile_lazily
from ricordo.storage.foreign_file import read_plain_file

STRONG, WEAK = 2, 1
CONFIRMED = 2
"""The sum of weights from which a project counts as the one that is gone."""
MOST_TRANSCRIPTS = 12
"""Transcripts of one folder that are read, the newest ones."""
_LONGEST_TRANSCRIPT = 8 * 1024 * 1024
_MOST_FILES = 400
_MOST_COMMITS = 8
_MOST_TIMES = 3
"""Transcripts whose times are compared with those of commits."""
_FEWEST_FILES = 3
"""Files that sessions named, of which most have to be in a project."""
_SHARE_OF_FILES = 0.6
_ALIKE = 0.7
"""How alike two names of folders are, from 0 to 1."""
_SECONDS = 3.0
_COMMON_FILES = frozenset(
    (
        *("README.md", "AGENTS.md", ".gitignore", "package.json", "pyproject.toml"),
        *(f"{name}.md" for name in list_instruction_files()),
    )
)
"""Files that many projects have."""
_COMMIT = compile_lazily(rb"(?:\[[\w./-]+ |\bcommit )([0-9a-f]{7,40})\b")
_TIME = compile_lazily(rb'"timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)')
_CWD = compile_lazily(rb'"cwd":"((?:[^"\\]|\\.)*)"')


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


@lru_cache(maxsize=256)
def read_identity(project: str) -> ProjectIdentity:
    """Return the identity of the project in a directory; empty outside a repository."""
    if git.find_top_level(project) is None:
        return ProjectIdentity("", "")
    answer = git.run_git(project, "config", r"^remote\..*\.url$", seconds=_SECONDS) or b""
    urls: dict[str, str] = {}
    for entry in os.fsdecode(answer).split("\0"):
        key, _, value = entry.partition("\n")
        urls.setdefault(key, value)
    url = urls.get("remote.origin.url") or next(filter(None, urls.values()), "")
    roots = git.run_git(project, "log", "--max-parents=0", "--format=%H", "HEAD", seconds=_SECONDS)
    commits = (roots or b"").decode("ascii", "replace").split()
    # of a shallow clone the first commit is not here
    is_whole = git.run_git(project, "rev-parse", "--is-shallow-repository") == b"false\n"
    return ProjectIdentity(normalize_remote(url), commits[-1] if commits and is_whole else "")


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


class Likeness(NamedTuple):
    """How much speaks for a directory being the project that was at a path that is gone."""

    project: str
    weight: int
    evidence: tuple[str, ...]

    @property
    def is_confirmed(self) -> bool:
        """Whether that is enough."""
        return self.weight >= CONFIRMED


class PastProject:
    """A project whose directory is gone, by what its sessions left."""

    def __init__(self, path: str, transcripts: Sequence[str]) -> None:
        """`transcripts` are those of its sessions, the newest first."""
        self.path = path
        raws = (
            read_plain_file(file, _LONGEST_TRANSCRIPT) for file in transcripts[:MOST_TRANSCRIPTS]
        )
        self._texts = [raw for raw in raws if raw]
        start = rb"(?<![\w.-])" + re.escape(os.fsencode(path)) + rb"/([\w@+./-]*[\w-])"
        names = [
            os.fsdecode(name)
            for text in self._texts
            for name in dict.fromkeys(re.findall(start, text))
        ]
        files = (name for name in dict.fromkeys(names) if "." in name.rpartition("/")[2])
        self._files = [name for name in files if name not in _COMMON_FILES][:_MOST_FILES]
        found = (match for text in self._texts for match in _COMMIT.findall(text))
        self._commits = list(dict.fromkeys(name.decode() for name in found))[:_MOST_COMMITS]

    @property
    def cwds(self) -> frozenset[str]:
        """Where its sessions worked, at any time."""
        found = (match for text in self._texts for match in _CWD.findall(text))
        return frozenset(os.fsdecode(path) for path in set(found))

    def compare(self, project: str) -> Likeness:
        """Return how much speaks for `project`."""
        weight, evidence = 0, list[str]()
        for points, text in (
            self._compare_cwds(project),
            self._compare_files(project),
            self._compare_commits(project),
            self._compare_remote(project),
            self._compare_times(project),
            self._compare_names(project),
        ):
            if points:
                weight += points
                evidence.append(text)
        return Likeness(project, weight, tuple(evidence))

    def _compare_cwds(self, project: str) -> tuple[int, str]:
        inside = os.path.join(project, "")
        both = [cwd for cwd in self.cwds if cwd == project or cwd.startswith(inside)]
        text = f"a session of {self.path} went on in {project}"
        return (WEAK, text) if both else (0, "")

    def _compare_files(self, project: str) -> tuple[int, str]:
        there = [name for name in self._files if os.path.lexists(os.path.join(project, name))]
        total = len(self._files)
        is_most = len(there) >= _FEWEST_FILES and len(there) >= _SHARE_OF_FILES * total
        text = f"{len(there)} of {total} files that its sessions named are in {project}"
        return (STRONG, text) if is_most else (0, "")

    def _compare_commits(self, project: str) -> tuple[int, str]:
        hits = [
            commit
            for commit in self._commits
            if git.run_git(
                project,
                "rev-parse",
                "--verify",
                "--quiet",
                f"{commit}^{{commit}}",
                seconds=_SECONDS,
            )
        ]
        noun = "commit" if len(hits) == 1 else "commits"
        text = f"{len(hits)} {noun} that its sessions made or named are in {project}"
        return (STRONG, text) if hits else (0, "")

    def _compare_remote(self, project: str) -> tuple[int, str]:
        remote = read_identity(project).remote
        host, slash, path = remote.partition("/")
        if not slash or host in ("", "."):
            return 0, ""
        pattern = re.escape(host.encode()) + rb"[:/]" + re.escape(os.fsencode(path)) + rb"(?![\w-])"
        is_named = any(re.search(pattern, text, re.I) for text in self._texts)
        return (WEAK, f"its sessions named the remote {remote}") if is_named else (0, "")

    def _compare_times(self, project: str) -> tuple[int, str]:
        """Look for commits that were made while the sessions ran."""
        for text in self._texts[:_MOST_TIMES]:
            times = _TIME.findall(text)
            if not times:
                continue
            first, last = (f"{time.decode()}Z" for time in (min(times), max(times)))
            made = git.run_git(
                project,
                "log",
                "--all",
                "--format=%H",
                "-1",
                f"--since={first}",
                f"--until={last}",
                seconds=_SECONDS,
            )
            if made:
                return WEAK, f"{project} has commits from the time of its sessions"
        return 0, ""

    def _compare_names(self, project: str) -> tuple[int, str]:
        (above, name), (other_above, other) = (os.path.split(it) for it in (self.path, project))
        if name == other:
            return WEAK, f"both are called {name}"
        alike = SequenceMatcher(None, name.lower(), other.lower()).ratio()
        is_alike = above == other_above and alike >= _ALIKE
        return (WEAK, f"both are in {above} and have similar names") if is_alike else (0, "")
