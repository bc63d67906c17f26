"""A project whose directory is gone or taken, by what its sessions left in their transcripts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ricordo.agents.diagnosis import RepositoryRecord
from ricordo.agents.registry import list_instruction_files
from ricordo.agents.transcripts.lines import parse_text, parse_time
from ricordo.patterns import compile_lazily
from ricordo.services.doctor.identity import Repositories, normalize_remote
from ricordo.storage.foreign_file import read_plain_file

STRONG, WEAK = 2, 1
CONFIRMED = 2
"""The sum of weights from which a project counts as the one that is gone."""
MOST_TRANSCRIPTS = 12
"""Transcripts of one project that are read, the newest ones."""
_LONGEST_TRANSCRIPT = 8 * 1024 * 1024
_MOST_FILES = 60
_MOST_COMMITS = 40
_MOST_ADDRESSES = 5000
_DEEPEST_ADDRESS = 6
_LONGEST_HOST = 256
_LONGEST_BRANCH = 256
_MOST_TIMES = 3
"""Transcripts whose times are compared with those of commits."""
_FEWEST_FILES = 3
"""Files that sessions named, of which most have to be in a project."""
_SHARE_OF_FILES = 0.6
_ALIKE = 0.7
"""How alike two names of folders are, from 0 to 1."""
_COMMON_FILES = frozenset(
    (
        *("README.md", "AGENTS.md", ".gitignore", "package.json", "pyproject.toml"),
        *(f"{name}.md" for name in list_instruction_files()),
    )
)
"""Files that many projects have."""

# A transcript has megabytes: each expression begins with letters that are rare in it, and what has
# to be in front of them is looked at only where they are.
_DIGITS_AS_ZERO = bytes(ord("0" if chr(it) in "0123456789abcdef" else " ") for it in range(256))
_COMMIT = compile_lazily(rb"0000000+")
"""The name of a commit, after `_DIGITS_AS_ZERO`."""
_LONG_COMMIT, _WHOLE_COMMIT = 12, 40
"""Characters of the name of a commit: those from which it is no other one by chance, and all."""
_BEFORE_COMMIT = compile_lazily(rb"(?<![\w-])|(?<=\\n)")
_BEFORE_MADE = compile_lazily(rb"(?:\[[\w./-]+ |\bcommit )\Z")
_AFTER_COMMIT = compile_lazily(rb"(?!\w)(-?)")
_SHORTEST_SUBJECT, _LONGEST_SUBJECT = 4, 24
"""Bytes of the subject of a commit by which it is recognised behind its name."""
_WHOLE_NAME = compile_lazily(r"[0-9a-f]{40}")
_MIXED = compile_lazily(rb"\d+[a-f]|[a-f]+\d")
_TIME = compile_lazily(rb'"timestamp":\s*"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)')
_BRANCH = compile_lazily(rb'"gitBranch":\s*("(?:[^"\\]|\\.)*")')
_CWD = compile_lazily(rb'"cwd":\s*("(?:[^"\\]|\\.)*")')
_AFTER_HOST = compile_lazily(rb"\.[a-zA-Z]{2,}(?::\d+)?[:/][\w./~+-]+")
_HOST = compile_lazily(rb"[\w.-]+\Z")
_FILE = rb"/((?:[\w@+./\x80-\xff-]|\\u[0-9a-fA-F]{4})*[\w\x80-\xff-])"


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

    def __init__(
        self, path: str, transcripts: Sequence[str], records: Iterable[RepositoryRecord] = ()
    ) -> None:
        """`transcripts` are those of its sessions, the newest first; `records` is what agents noted
        of the repository.
        """
        self.path = path
        files: dict[str, None] = {}
        made: dict[str, None] = {}
        listed: dict[str, set[bytes]] = {}
        self.transcripts = transcripts
        self._names = SequenceMatcher(None, "", os.path.basename(path).lower())
        self.cwds: set[str] = set()
        """Where its sessions worked, at any time."""
        self.branches: set[str] = set()
        """The branches on which its sessions worked."""
        self._addresses: set[str] = set()
        self.times: list[tuple[str, str]] = []
        """When some of its sessions began and ended, as `parse_time` returns it."""
        expressions = _list_file_expressions(path)
        for transcript in transcripts[:MOST_TRANSCRIPTS]:
            text = read_plain_file(transcript, _LONGEST_TRANSCRIPT) or b""
            for expression in expressions:
                names = dict.fromkeys(expression.findall(text))
                files.update(dict.fromkeys(parse_text(b'"%b"' % name) for name in names))
            for commit, behind in _find_commits(text):
                if behind is None:
                    made[commit] = None
                else:
                    listed.setdefault(commit, set()).add(behind)
            self.cwds |= set(map(parse_text, set(_CWD.findall(text))))
            self.branches |= set(map(parse_text, set(_BRANCH.findall(text)))) - {""}
            links = set(_find_links(text)) if len(self._addresses) < _MOST_ADDRESSES else ()
            self._addresses |= {address for link in links for address in _list_addresses(link)}
            if (times := _TIME.findall(text)) and len(self.times) < _MOST_TIMES:
                first, last = (parse_time(f"{it.decode()}Z") for it in (min(times), max(times)))
                self.times += [(first, last)] if first and last else []
        for record in records:
            if _WHOLE_NAME.fullmatch(record.commit):
                made[record.commit] = None
            self.branches |= {record.branch} - {""}
            self._addresses |= {normalize_remote(record.remote)} - {""}
        named = [it for it in files if "." in it.rpartition("/")[2] and it not in _COMMON_FILES]
        # some of all, not those of the newest session alone
        self._files = named[:: -(-len(named) // _MOST_FILES) or 1]
        self._made, self._listed = made.keys(), listed
        self.commits = [*made, *(it for it in listed if it not in made)][:_MOST_COMMITS]
        """What may be commits in the texts of its sessions."""
        self.last_time = max((last for _, last in self.times), default="")
        """When its newest session ended, as `parse_time` returns it; "" where that is unknown."""

    def compare(self, project: str, repositories: Repositories) -> Likeness:
        """Return how much speaks for `project`. The commits are expected by `repositories`."""
        found = [
            self._compare_cwds(project),
            self._compare_files(project),
            self._compare_commits(project, repositories),
            self._compare_remote(project, repositories),
            self._compare_names(project),
        ]
        weights = [weight for weight, _ in found]
        return Likeness(project, sum(weights), tuple(text for weight, text in found if weight))

    def has_files_in(self, project: str) -> bool:
        """Return whether most of the files that its sessions named are in `project`."""
        return self._compare_files(project)[0] > 0

    def has_commits_in(self, project: str, repositories: Repositories) -> bool:
        """Return whether the repository of `project` certainly has commits that its sessions named.
        The commits are expected by `repositories`.
        """
        return self._compare_commits(project, repositories)[0] >= STRONG

    def has_times_of(self, project: str, repositories: Repositories) -> bool:
        """Return whether `project` has commits that were made while its sessions ran."""
        return any(repositories.has_commit_between(project, *span) for span in self.times)

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
            len(name) >= _LONG_COMMIT or name in self._made or self._has_subject(name, subject)
            for name, subject in named.items()
        )
        return (STRONG if is_sure else WEAK if named else 0, text)

    def _has_subject(self, name: str, subject: bytes) -> bool:
        """Return whether the subject of a commit follows its name, as in what git prints."""
        text = json.dumps(subject.decode("utf-8", "replace"), ensure_ascii=False)[1:-1].encode()
        is_long = len(text) >= _SHORTEST_SUBJECT
        start = b" " + text[:_LONGEST_SUBJECT]
        return is_long and any(it.startswith(start) for it in self._listed.get(name, ()))

    def _compare_remote(self, project: str, repositories: Repositories) -> tuple[int, str]:
        remote = repositories.read_remote(project) if self._addresses else ""
        is_named = remote in self._addresses
        return (WEAK, f"its sessions named the remote {remote}") if is_named else (0, "")

    def _compare_names(self, project: str) -> tuple[int, str]:
        (above, name), (other_above, other) = (os.path.split(it) for it in (self.path, project))
        if name == other:
            return WEAK, f"both are called {name}"
        if above != other_above:
            return 0, ""
        # it keeps what it knows of the second name
        self._names.set_seq1(other.lower())
        is_alike = self._names.real_quick_ratio() >= _ALIKE and self._names.ratio() >= _ALIKE
        text = f"both are in {above} and have similar names"
        return (WEAK, text) if is_alike else (0, "")


def read_cwds(transcript: str) -> set[str]:
    """Return where a session worked, at any time."""
    text = read_plain_file(transcript, _LONGEST_TRANSCRIPT) or b""
    return set(map(parse_text, set(_CWD.findall(text))))


def rank(
    past: Sequence[PastProject], compared: Sequence[Likeness], repositories: Repositories
) -> list[Likeness]:
    """Return the projects that may be one of `past`, the likeliest first.

    The times of commits count only for projects for which something else speaks: by themselves they
    are a coincidence. They are slow to find, so they are looked for only where they may decide.
    """
    best = max((it.weight for it in compared), default=0)
    likely = [it for it in compared if it.weight]
    for number, it in enumerate(likely):
        if it.weight + WEAK >= best and any(
            each.has_times_of(it.project, repositories) for each in past
        ):
            evidence = f"{it.project} has commits from the time of its sessions"
            likely[number] = Likeness(it.project, it.weight + WEAK, (*it.evidence, evidence))
    return sorted(likely, key=lambda it: (-it.weight, it.project))


def pick(likely: Sequence[Likeness]) -> Likeness | None:
    """Return the first of the ranked projects if it is confirmed and no other is as likely."""
    is_tie = len(likely) > 1 and likely[0].weight == likely[1].weight
    return likely[0] if likely and likely[0].is_confirmed and not is_tie else None


def _list_file_expressions(path: str) -> list[re.Pattern[bytes]]:
    """Return what finds the names of files in the directory `path`, in each form that JSON has."""
    forms = {os.fsencode(path), json.dumps(path)[1:-1].encode()}
    return [
        re.compile(rb"%b(?<![\w.-]%b)%b" % (form, form, _FILE)) for form in map(re.escape, forms)
    ]


def _find_commits(text: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Yield what may be the names of commits, each with the text behind it; None if it is named as
    one that was made or shown.
    """
    for match in _COMMIT.finditer(text.translate(_DIGITS_AS_ZERO)):
        start, end = match.span()
        after = _AFTER_COMMIT.match(text, end)
        if end - start > _WHOLE_COMMIT or after is None:
            continue
        name = text[start:end]
        if _BEFORE_MADE.search(text, max(0, start - _LONGEST_BRANCH), start):
            yield name.decode(), None
        elif not after[1] and _MIXED.match(name) and _BEFORE_COMMIT.match(text, start):
            yield name.decode(), text[end : end + _LONGEST_SUBJECT + 1]


def _find_links(text: bytes) -> Iterator[bytes]:
    for match in _AFTER_HOST.finditer(text):
        start = match.start()
        if host := _HOST.search(text, max(0, start - _LONGEST_HOST), start):
            yield host[0] + match[0]


def _list_addresses(link: bytes) -> Iterator[str]:
    """Yield the addresses of repositories that a link to one, or to a page there, may name."""
    parts = normalize_remote(link.decode("ascii", "replace").rstrip(".")).split("/")
    for end in range(2, min(len(parts), _DEEPEST_ADDRESS) + 1):
        yield "/".join(parts[:end])
