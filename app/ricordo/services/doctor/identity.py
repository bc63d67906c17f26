"""Whether two directories are one project: by git, and for one that is gone by what its sessions
left in their transcripts.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from difflib import SequenceMatcher
from typing import NamedTuple

from ricordo import git
from ricordo.agents.registry import list_instruction_files
from ricordo.agents.transcripts.lines import parse_text
from ricordo.patterns import compile_lazily
from ricordo.storage.foreign_file import list_subfolders, read_plain_file

STRONG, WEAK = 2, 1
CONFIRMED = 2
"""The sum of weights from which a project counts as the one that is gone."""
MOST_TRANSCRIPTS = 12
"""Transcripts of one project that are read, the newest ones."""
_LONGEST_TRANSCRIPT = 8 * 1024 * 1024
_LARGEST_REFERENCES = 4 * 1024 * 1024
_LONGEST_PATH = 8192
_BEGINNING = 64 * 1024
"""Bytes of a transcript in which a time is looked for."""
_MOST_FILES = 60
_MOST_COMMITS = 40
_MOST_ADDRESSES = 5000
_DEEPEST_ADDRESS = 6
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
_COMMIT = compile_lazily(
    rb"(?:(?<![\w-])|(?<=\\n))(?=[0-9a-f]*[a-f])(?=[a-f]*\d)([0-9a-f]{7,40})(?![\w-])"
)
_MADE_COMMIT = compile_lazily(rb"(?:\[[\w./-]+ |\bcommit )([0-9a-f]{7,40})\b")
_LONG_COMMIT = 12
"""Characters from which the name of a commit is that of no other one by chance."""
_TIME = compile_lazily(rb'"timestamp":\s*"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)')
_BRANCH = compile_lazily(rb'"gitBranch":\s*("(?:[^"\\]|\\.)*")')
_CWD = compile_lazily(rb'"cwd":\s*("(?:[^"\\]|\\.)*")')
_LINK = compile_lazily(rb"(?<![\w.-])(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?[:/][\w./~+-]+", re.I)
_FILE = rb"/((?:[\w@+./\x80-\xff-]|\\u[0-9a-fA-F]{4})*[\w\x80-\xff-])"


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
        self._commits: dict[str, list[str]] = {}
        self._wanted: dict[str, None] = {}
        self._branches: dict[str, frozenset[str]] = {}

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

    def has_commit_before(self, project: str, time: str) -> bool:
        """Return whether a repository has commits from before a time; True if that is unknown."""
        if not time or git.find_top_level(project) is None:
            return True
        words = ("-1", f"--before={time}", "--format=%H")
        return git.run_git(project, "log", *words, seconds=_SECONDS) != b""

    def read_begin(self, project: str) -> datetime:
        """Return the time of the first commit of a repository; the earliest time if unknown."""
        words = ("--max-parents=0", "--format=%ct", "HEAD")
        times = (git.run_git(project, "log", *words, seconds=_SECONDS) or b"").split()
        return datetime.fromtimestamp(min(map(int, times), default=0), UTC)

    def expect_commits(self, names: Iterable[str]) -> None:
        """Have `find_commits` look for these, too. Only before it is called for the first time."""
        assert not self._commits
        self._wanted.update(dict.fromkeys(names))

    def find_commits(self, project: str, names: Iterable[str]) -> list[str]:
        """Return those of the expected `names`, which may be short, that are commits in the
        repository of a project.
        """
        if project not in self._commits:
            self._commits[project] = self._ask_commits(project)
        ids = self._commits[project]
        return [name for name in names if any(id.startswith(name) for id in ids)]

    def _ask_commits(self, project: str) -> list[str]:
        if not self._wanted or git.find_top_level(project) is None:
            return []
        words = ("--no-walk", "--ignore-missing", "--format=%H", *self._wanted, "--")
        answer = git.run_git(project, "log", *words, seconds=_SECONDS) or b""
        return answer.decode("ascii", "replace").split()


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


class Likeness(NamedTuple):
    """How much speaks for a directory being the project that was at a path that is gone."""

    project: str
    weight: int
    evidence: tuple[str, ...]

    @property
    def is_confirmed(self) -> bool:
        """Whether the evidence is enough."""
        return self.weight >= CONFIRMED


class PastProject:
    """A project whose directory is gone, by what its sessions left."""

    def __init__(self, path: str, transcripts: Sequence[str]) -> None:
        """`transcripts` are those of its sessions, the newest first."""
        self.path = path
        files: dict[str, None] = {}
        commits: dict[str, None] = {}
        made: set[str] = set()
        self.transcripts = transcripts
        self.cwds: set[str] = set()
        """Where its sessions worked, at any time."""
        self.branches: set[str] = set()
        """The branches on which its sessions worked."""
        self._addresses: set[str] = set()
        self._times: list[tuple[str, str]] = []
        forms = {os.fsencode(path), json.dumps(path)[1:-1].encode()}
        inside = re.compile(rb"(?<![\w.-])(?:" + b"|".join(map(re.escape, forms)) + rb")" + _FILE)
        for transcript in transcripts[:MOST_TRANSCRIPTS]:
            text = read_plain_file(transcript, _LONGEST_TRANSCRIPT) or b""
            names = dict.fromkeys(inside.findall(text))
            files.update(dict.fromkeys(parse_text(b'"%b"' % name) for name in names))
            made |= {name.decode() for name in _MADE_COMMIT.findall(text)}
            commits.update(dict.fromkeys(name.decode() for name in _COMMIT.findall(text)))
            self.cwds |= {parse_text(cwd) for cwd in set(_CWD.findall(text))}
            self.branches |= {parse_text(name) for name in set(_BRANCH.findall(text))} - {""}
            links = set(_LINK.findall(text)) if len(self._addresses) < _MOST_ADDRESSES else ()
            self._addresses |= {address for link in links for address in _list_addresses(link)}
            if (times := _TIME.findall(text)) and len(self._times) < _MOST_TIMES:
                self._times.append((f"{min(times).decode()}Z", f"{max(times).decode()}Z"))
        named = [it for it in files if "." in it.rpartition("/")[2] and it not in _COMMON_FILES]
        # some of all, not those of the newest session alone
        self._files = named[:: -(-len(named) // _MOST_FILES) or 1]
        self._made = frozenset(made)
        self.commits = [*made, *(it for it in commits if it not in made)][:_MOST_COMMITS]
        """What may be commits in the texts of its sessions."""
        self.last_time = max((last for _, last in self._times), default="")
        """When its newest session ended, ISO 8601; "" where that is unknown."""

    def compare(self, project: str, repositories: Repositories) -> Likeness:
        """Return how much speaks for `project`. The commits are expected by `repositories`."""
        found = [
            self._compare_cwds(project),
            self._compare_files(project),
            self._compare_commits(project, repositories),
            self._compare_remote(project, repositories),
            self._compare_names(project),
        ]
        if any(weight for weight, _ in found):
            # by itself a coincidence, and slow to find
            found.append(self._compare_times(project))
        weights = [weight for weight, _ in found]
        return Likeness(project, sum(weights), tuple(text for weight, text in found if weight))

    def _compare_cwds(self, project: str) -> tuple[int, str]:
        inside = os.path.join(project, "")
        has_gone_on = any(cwd == project or cwd.startswith(inside) for cwd in self.cwds)
        text = f"a session of {self.path} went on in {project}"
        return (WEAK, text) if has_gone_on else (0, "")

    def _compare_files(self, project: str) -> tuple[int, str]:
        total, count = len(self._files), 0
        needed = max(_FEWEST_FILES, _SHARE_OF_FILES * total)
        for number, name in enumerate(self._files):
            if count + total - number < needed:
                return 0, ""
            count += os.path.lexists(os.path.join(project, name))
        text = f"{count} of {total} files that its sessions named are in {project}"
        return (STRONG, text) if count >= needed else (0, "")

    def _compare_commits(self, project: str, repositories: Repositories) -> tuple[int, str]:
        named = repositories.find_commits(project, self.commits)
        noun, verb = ("commit", "is") if len(named) == 1 else ("commits", "are")
        text = f"{len(named)} {noun} that its sessions named {verb} in {project}"
        is_sure = len(named) > 1 or any(
            len(name) >= _LONG_COMMIT or name in self._made for name in named
        )
        return (STRONG if is_sure else WEAK if named else 0, text)

    def _compare_remote(self, project: str, repositories: Repositories) -> tuple[int, str]:
        remote = repositories.read_remote(project) if self._addresses else ""
        is_named = remote in self._addresses
        return (WEAK, f"its sessions named the remote {remote}") if is_named else (0, "")

    def _compare_times(self, project: str) -> tuple[int, str]:
        """Look for commits that were made while the sessions ran."""
        if git.find_top_level(project) is None:
            return 0, ""
        for first, last in self._times:
            span = (f"--since={first}", f"--until={last}")
            words = ("--all", "--format=%H", "-1", *span)
            if git.run_git(project, "log", *words, seconds=_SECONDS):
                return WEAK, f"{project} has commits from the time of its sessions"
        return 0, ""

    def _compare_names(self, project: str) -> tuple[int, str]:
        (above, name), (other_above, other) = (os.path.split(it) for it in (self.path, project))
        if name == other:
            return WEAK, f"both are called {name}"
        if above != other_above:
            return 0, ""
        alike = SequenceMatcher(None, name.lower(), other.lower()).ratio()
        return (WEAK, f"both are in {above} and have similar names") if alike >= _ALIKE else (0, "")


def read_first_time(transcript: str) -> str:
    """Return when the session of a transcript began, ISO 8601; "" where that is unknown."""
    match = _TIME.search(read_plain_file(transcript, _BEGINNING) or b"")
    return f"{match[1].decode()}Z" if match else ""


def _list_addresses(link: bytes) -> Iterator[str]:
    """Yield the addresses of repositories that a link to one, or to a page there, may name."""
    parts = normalize_remote(link.decode("ascii", "replace").rstrip(".")).split("/")
    for end in range(2, min(len(parts), _DEEPEST_ADDRESS) + 1):
        yield "/".join(parts[:end])


def list_worktrees(project: str) -> Iterator[str]:
    """Yield the directories of the worktrees of which a project's repository has a record, there or
    not.
    """
    for record in list_subfolders(os.path.join(project, ".git", "worktrees")):
        named = read_plain_file(os.path.join(record, "gitdir"), _LONGEST_PATH) or b""
        yield os.path.dirname(os.fsdecode(named.strip()))
