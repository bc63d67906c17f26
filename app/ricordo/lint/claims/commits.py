"""The commits of a project: what their subjects say that they made, which requests and branches
they brought, and which of them are part of the main branch.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache, cached_property
from typing import NamedTuple

from ricordo.dates import find_dates
from ricordo.lexicon import build_alternation, compile_part, list_expressions, lower_text
from ricordo.lint.claims.claim import get_work_words
from ricordo.patterns import compile_lazily
from ricordo.text import make_one_line

MARK = "\x01"
"""Between the parts of a commit in the output of git."""
COMMIT_FORMAT = f"%H{MARK}%h{MARK}%ct{MARK}%P{MARK}%D{MARK}%s"
"""For git log: the parts of a commit as `parse_commits` reads them."""

_TYPE = compile_lazily(r"(\w+)(?:\(([^)]*)\))?!?:")
"""The type and the scope that begin the subject of a conventional commit."""
_MERGE = compile_lazily(
    r"^Merge (?:(?:pull request|PR) #\d+ from [^/\s]+/|(?:remote-tracking )?branch '(?:origin/)?)"
    r"(?:feat(?:ure)?/)?"
)
"""What is before the name of a branch in the subject of its merge."""
_SAMPLES = 8
"""Commits in which it is looked for what was lost at any time."""
_OF_SUBJECT = 0.6
"""The share of the words of a subject from which on a commit is about them."""
_TYPES_MADE = frozenset(("feat", "feature", "features"))
_CAMEL = compile_lazily(r"(?<=[a-z])(?=[A-Z])")
_ENDING = compile_lazily(r"(?:ing|ed|es|s|e)$")
_LONG = 6
"""Letters from which a word is compared without its ending."""


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


class _Commit(NamedTuple):
    """A commit as the graph has it."""

    hash: str
    commit: FileCommit
    parents: tuple[str, ...]
    refs: tuple[str, ...]
    """The full names of the branches and tags at it."""


class MadeWork(NamedTuple):
    """A commit, and what its subject says that it made."""

    commit: FileCommit
    words: frozenset[str]
    """The stems of all words of its subject."""

    @property
    def says_complete(self) -> bool:
        """Whether its subject says that something is complete."""
        return _says_done(lower_text(self.commit.subject))

    def is_of(self, work: frozenset[str]) -> bool:
        """Return whether that work is what the commit is about, not one of several things that its
        subject mentions: its scope of several words is of it, or it is most of what the subject
        names first, without another part of a plan.
        """
        stems = frozenset(map(_stem, work))
        subject = _MERGE.sub("", _REQUEST.sub("", self.commit.subject))
        kind = _TYPE.match(subject)
        scope = _list_stems(kind[2] or "") if kind else frozenset[str]()
        if len(scope) > 1 and scope <= stems:
            return True
        thing = drop_verb(subject[kind.end() if kind else 0 :])
        part = _numbered_part().search(lower_text(thing))
        if part and not get_work_words(part[0]) <= work:
            return False
        described = _relation().search(lower_text(thing).lstrip())
        first = thing.lstrip()[: described.start()] if described else thing
        own = {word for word in _list_stems(first) if not word.isdigit()}
        return bool(own) and len(own & stems) >= _OF_SUBJECT * len(own)

    def names_part_of(self, work: frozenset[str]) -> bool:
        """Return whether its subject has a word of that work right before a number of it, as in
        `week 4`.
        """
        numbers = "|".join(word for word in work if word.isdigit())
        names = "|".join(re.escape(word) for word in work if not word.isdigit())
        pair = rf"\b(?:{names})s?\W{{0,3}}(?:{numbers})\b"
        return re.search(pair, lower_text(self.commit.subject)) is not None


def drop_verb(text: str) -> str:
    """Return a text without the verb at its beginning that says that something is made."""
    verb = _words("made").match(lower_text(text.lstrip()))
    rest = text.lstrip()[verb.end() :] if verb else ""
    return rest if rest.strip() else text


def _list_stems(text: str) -> frozenset[str]:
    return frozenset(map(_stem, get_work_words(_CAMEL.sub(" ", text))))


_MAIN_REFS = (
    *("refs/remotes/origin/HEAD", "refs/remotes/upstream/HEAD"),
    *(
        f"{folder}/{name}"
        for folder in ("refs/remotes/origin", "refs/heads")
        for name in ("main", "master", "trunk", "develop")
    ),
)
"""The refs of the main branch, the likeliest first."""
_PARTS = 6
"""Of a commit in the output of git log."""
_SQUEEZED = compile_lazily(r"[^\w]|_")
_KIND_OF_BRANCH = frozenset(
    (
        *("feat", "feature", "features", "fix", "bugfix", "hotfix", "chore", "docs", "doc"),
        *("refactor", "release", "perf", "test", "tests", "ci", "build", "style", "task", "wip"),
    )
)
"""The first parts of branch names that say nothing of their subject."""
_FEWEST_LETTERS = 8
"""Of a branch name of one word from which a commit that has it tells of that branch."""


class CommitGraph:
    """The commits of all branches, and which of them are part of the main branch."""

    def __init__(self, commits: Sequence[_Commit], head: str) -> None:
        """`commits` are newest first; `head` is the hash of the one checked out."""
        self._by_hash = {it.hash: it for it in commits}
        self._order = commits
        self._by_ref = {ref: it.hash for it in commits for ref in it.refs}
        main = next((self._by_ref[ref] for ref in _MAIN_REFS if ref in self._by_ref), head)
        self._on_main = self._find_ancestors([main])
        self._merged = [it for it in commits if it.hash in self._on_main]

    def _find_ancestors(self, hashes: Iterable[str]) -> frozenset[str]:
        """Return the commits that are part of those with `hashes`, themselves among them."""
        pending, seen = list(hashes), set[str]()
        while pending:
            at = pending.pop()
            if at not in seen and at in self._by_hash:
                seen.add(at)
                pending += self._by_hash[at].parents
        return frozenset(seen)

    def find_request(self, number: str) -> FileCommit | None:
        """Return the commit by which a pull or merge request came to the main branch; one that only
        wrote notes tells of it at most.
        """
        named = _request_pattern(number)
        found = (it.commit for it in self._merged if named.search(it.commit.subject))
        return next((it for it in found if not _OF_NOTES.match(it.subject)), None)

    def find_branch(self, name: str) -> FileCommit | None:
        """Return the commit by which a branch came to the main branch: its last merge, or the one
        commit of a request with the words of its name in the subject.
        """
        return next(self._list_merges(name), None) or self._find_squashed(name)

    def find_merge(self, name: str) -> FileCommit | None:
        """Return the commit that merged a branch into the main branch; None where none did, or more
        than one: then work on it goes on.
        """
        merges = list(self._list_merges(name))
        return merges[0] if len(merges) == 1 else None

    def _list_merges(self, name: str) -> Iterator[FileCommit]:
        """Yield the merges of a branch into the main branch, the last one first."""
        plain = re.escape(name)
        merge = re.compile(
            # what a remote has of it comes to the branch itself
            rf"^Merge (?:remote-tracking )?branch '(?:origin/)?{plain}'(?!.* into {plain}$)"
            rf"|^Merge pull request #\d+ from [^/\s]+/{plain}$"
        )
        return (it.commit for it in self._merged if merge.search(it.commit.subject))

    def _find_squashed(self, name: str) -> FileCommit | None:
        kind, _, rest = name.partition("/")
        words = re.findall(r"[^\W_]+", (rest or kind).lower())
        slug = "".join(words)
        if len(words) < 2 and (len(slug) < _FEWEST_LETTERS or slug in _KIND_OF_BRANCH):
            return None
        found = [it.commit for it in self._merged if _names_branch(it.commit.subject, words, slug)]
        # of several requests in the same words any may be another one
        return found[0] if len(found) == 1 else None

    def find_pushed(self, short: str) -> FileCommit | None:
        """Return the commit of a hash that is part of a branch of a remote."""
        pushed = self._pushed
        return next(
            (it.commit for it in self._order if it.hash.startswith(short) and it.hash in pushed),
            None,
        )

    def find_work(self, work: frozenset[str]) -> list[MadeWork]:
        """Return the commits of the main branch that made something and have all words of that
        work in their subjects, newest first.
        """
        words = frozenset(map(_stem, work))
        fewest = min((self._made_by_word.get(word, ()) for word in words), key=len)
        return [it for it in fewest if it.words >= words]

    def has_words_before(self, work: frozenset[str], moment: float) -> bool:
        """Return whether a commit before a moment, in seconds since the epoch, that does not only
        speak of the work has all its words in its subject: they are the name of what was there.
        """
        words = frozenset(map(_stem, work))
        early = (it for it in self._subjects if it.commit.at < moment and it.words >= words)
        return any(not _words("unmade").search(lower_text(it.commit.subject)) for it in early)

    @cached_property
    def _subjects(self) -> Sequence[MadeWork]:
        return [MadeWork(it.commit, _list_stems(it.commit.subject)) for it in self._merged]

    @cached_property
    def _made_by_word(self) -> Mapping[str, list[MadeWork]]:
        """The commits that made something, by each word of their subjects."""
        by_word: dict[str, list[MadeWork]] = defaultdict(list)
        for it in self._subjects:
            for word in it.words if _is_made(it.commit.subject) else ():
                by_word[word].append(it)
        return by_word

    def find_tag(self, name: str) -> FileCommit | None:
        """Return the commit of a tag, with or without its `v`."""
        plain = name.removeprefix("v")
        refs = (f"refs/tags/{tag}" for tag in (name, plain, f"v{plain}"))
        at = next((self._by_ref[ref] for ref in refs if ref in self._by_ref), "")
        return self._by_hash[at].commit if at else None

    @cached_property
    def newest_version(self) -> tuple[str, FileCommit] | None:
        """The tag of the highest version on the main branch, and its commit; None without any."""
        tags = [
            (list(map(int, match[1].split("."))), match[1], it.commit)
            for it in self._merged
            for ref in it.refs
            if (match := _VERSION_TAG.fullmatch(ref))
        ]
        return max(tags)[1:] if tags else None

    def find_at(self, moment: float) -> tuple[str, FileCommit] | None:
        """Return the last commit of the main branch at a moment, in seconds since the epoch, with
        its full hash; None where there is none.
        """
        return next(((it.hash, it.commit) for it in self._merged if it.commit.at <= moment), None)

    @cached_property
    def samples(self) -> Sequence[tuple[str, FileCommit]]:
        """A few commits of the main branch at equal distances, newest first, each with its full
        hash: what the project once had for long is in one of them.
        """
        step = max(1, len(self._merged) // _SAMPLES)
        return [(it.hash, it.commit) for it in self._merged[step::step]]

    @cached_property
    def _pushed(self) -> frozenset[str]:
        return self._find_ancestors(
            hash_ for ref, hash_ in self._by_ref.items() if ref.startswith("refs/remotes/")
        )


def _names_branch(subject: str, words: Sequence[str], slug: str) -> bool:
    """Return whether the subject of a squashed request has the `words` of the name of a branch,
    which are `slug` together.
    """
    plain = subject.lower()
    if not _REQUEST.search(plain):
        return False
    has_words = len(words) > 1 and set(words) <= set(re.findall(r"[^\W_]+", plain))
    return has_words or slug in _SQUEEZED.sub("", plain)


def _is_made(subject: str) -> bool:
    """Return whether a commit made something, by its subject."""
    spoken = lower_text(subject)
    if _words("unmade").search(spoken):
        return False
    kind = _TYPE.match(spoken)
    if kind and kind[1] in _TYPES_MADE:
        return True
    is_made = not kind and _words("made").match(spoken)
    return bool(is_made) or _says_done(spoken)


def _says_done(spoken: str) -> bool:
    return _words("done").search(spoken) is not None


@cache
def _numbered_part() -> re.Pattern[str]:
    kinds = build_alternation(list_expressions("status", "part"))
    return re.compile(rf"(?:{kinds})s?\W{{0,3}}\d+")


@cache
def _relation() -> re.Pattern[str]:
    """Return the pattern of a word behind a thing from which on it is only described."""
    return re.compile(rf"(?<=\w\s)(?:{build_alternation(list_expressions('status', 'relation'))})")


@cache
def _words(part: str) -> re.Pattern[str]:
    return compile_part("status", part)


def _stem(word: str) -> str:
    """Return an English word without its ending; others are left alone by their length."""
    return _ENDING.sub("", word) if len(word) >= _LONG and word.isascii() else word


_OF_NOTES = compile_lazily(r"(?:docs|chore)\((?:memor(?:y|ies)|notes?|tasks?|todos?|journal)\)!?:")
"""The beginning of the subject of a commit that changed nothing but notes."""
_VERSION_TAG = compile_lazily(r"refs/tags/v?(\d+(?:\.\d+)+)")
_REQUEST = compile_lazily(r"\([#!]\d+\)$")
"""The number that GitHub and GitLab put behind the subject of a squashed request."""

_REFERENCE = compile_lazily(
    r"(?:\b(?:PR|MR|[Pp]ull [Rr]equest|[Mm]erge [Rr]equest)s? ?|(?<![\w&/#]))[#!]"
    r"(?P<request>\d{1,6})\b"
    r"|\b(?:PR|MR)s? (?P<spoken>\d{1,6})\b"
    r"|(?<![\w/-])(?P<key>[A-Z][A-Z0-9]+)-(?P<ticket>\d{2,6})(?![\w-]|\.\d)"
    r"|(?<![\w/-])(?P<kind>[A-Z][^\W\d_]{2,}) (?P<number>\d{2,5})(?![\w%/-]|[.,]\d)"
)
"""A request, a ticket or a numbered task: `#575`, `PR 12`, `ABC-123`, `Brief 177`."""


def list_references(text: str) -> frozenset[tuple[str, str]]:
    """Return the requests, tickets and numbered tasks that a text names, each with what it is."""
    found: set[tuple[str, str]] = set()
    for match in _REFERENCE.finditer(text):
        if request := match["request"] or match["spoken"]:
            found.add(("#", request))
        elif match["key"]:
            found.add((match["key"], match["ticket"]))
        elif not any(find_dates(f"{match[0]} 2020")):
            # a month and its day are no task
            found.add((match["kind"], match["number"]))
    return frozenset(found)


@cache
def _request_pattern(number: str) -> re.Pattern[str]:
    """Return the pattern for subjects of commits that bring the request of that number."""
    return re.compile(
        rf"\([#!]{number}\)$|^Merge (?:pull request|PR) #{number}\b|^Merged PR {number}:"
        rf"|\(pull request #{number}\)$|^\(#{number}\)"
        # an issue of that number
        rf"|\b(?:[Ff]ix|[Cc]lose|[Rr]esolve)(?:s|d|es|ed)? #{number}\b"
        rf"|^(?:feat|fix)\((?:issue ?)?#{number}\)"
    )


def parse_commits(words: Iterable[str]) -> Iterator[_Commit]:
    """Yield the commits in the output of git log in COMMIT_FORMAT, one a word."""
    for word in words:
        parts = word.split(MARK, _PARTS - 1)
        if len(parts) == _PARTS and parts[2].isdigit():
            full, short, at, parents, decoration, subject = parts
            refs = (ref.removeprefix("HEAD -> ") for ref in decoration.split(", "))
            named = tuple(ref.removeprefix("tag: ") for ref in refs)
            commit = FileCommit(short, int(at), subject)
            yield _Commit(full.lstrip("\n"), commit, tuple(parents.split()), named)
