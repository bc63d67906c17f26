"""The git history of a project: its commits, deleted and moved files, earlier contents.

Each kind of fact is read by one git process when it is first asked for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property
from itertools import product
from time import monotonic
from typing import NamedTuple

from ricordo import git
from ricordo.lint.claims.commits import (
    COMMIT_FORMAT,
    MARK,
    CommitGraph,
    FileCommit,
    parse_commits,
)
from ricordo.patterns import compile_lazily
from ricordo.storage.project_tree import DOWNLOADED_FOLDERS

_SECONDS = 4.0
"""Per git command: the longest that closing the app has to wait."""
_MOST_COMMITS_COMPARED = 100
"""Commits searched for renames, for which git compares their files."""
_MOST_FILES_KEPT = 4
"""Files whose changes are kept."""
_MOST_COMMITS = 50_000
_FORMAT = f"{MARK}%h{MARK}%ct{MARK}%s"
_CHANGES = (
    *("log", "-p", "-U0", "--relative", "--no-renames", "--no-color", "--diff-filter=d"),
    f"--format={_FORMAT}",
)
"""Lists what commits changed, without what they deleted."""
CODE_ENDINGS = (
    *(".astro", ".bash", ".c", ".cc", ".cjs", ".clj", ".cljs", ".cpp", ".cs", ".css", ".cu"),
    *(".cxx", ".dart", ".elm", ".erl", ".ex", ".exs", ".fs", ".go", ".gql", ".graphql", ".groovy"),
    *(".h", ".hh", ".hpp", ".hs", ".java", ".jl", ".js", ".jsx", ".kt", ".kts", ".less", ".lua"),
    *(".m", ".mjs", ".ml", ".mm", ".mts", ".nim", ".php", ".pl", ".prisma", ".proto", ".ps1"),
    *(".py", ".rb", ".rs", ".sass", ".scala", ".scss", ".sh", ".sol", ".sql", ".svelte", ".swift"),
    *(".tf", ".ts", ".tsx", ".vb", ".vue", ".zig", ".zsh"),
)
"""The endings of files whose names of code are their own."""
_CODE = (
    *(f":(glob)**/*{ending}" for ending in CODE_ENDINGS),
    *(f":(exclude,icase,glob)**/{folder}/**" for folder in sorted(DOWNLOADED_FOLDERS)),
)
"""The code that the project writes itself."""
_MOST_COMMITS_SEARCHED = 32
"""Commits of one search."""
_LONGEST_PATTERN = 60_000
"""Characters, in ASCII: an argument of a command has at most 128 KiB on Linux."""
_SEARCHES_IN_TIME = 8
"""How often a search may be repeated in the time of a command, for more to be searched at once."""
_MOST_NAMED = 100
"""Files that are named to git one by one."""
COMMENT = compile_lazily(r"\s*(?:#(?!\w)|//|/?\*|--\s|<!--)|.*\b(?:TODO|FIXME)\b")
"""A line that only speaks of code."""
_PLAIN_WORD = compile_lazily(r"[A-Za-z0-9_]+")
_SIGN = compile_lazily(r"[][.*^$+?(){}|\\]")
"""What an extended regular expression does not take literally."""
_LONGEST_CHAIN = 8
_MOST_QUOTED = 80
"""Characters of a line that are shown as evidence."""
_FEWEST_LOGGED = 8
"""Commits to a file from which on it may be a log."""
_LOGGED = 0.4
"""The share of all commits from which on it is one."""
_MARGIN = 180 * 24 * 3600
"""Seconds."""


class ReplacedLines(NamedTuple):
    """Lines of a file that a commit replaced."""

    path: str
    commit: FileCommit
    removed: tuple[str, ...]
    added: tuple[str, ...]

    removed_text: str
    """The removed lines as one text, in lower case."""


class FileRevision(NamedTuple):
    """One file as a commit changed it."""

    commit: FileCommit
    removed: str
    """The removed lines as one text."""
    added: str
    is_new: bool
    """Whether the commit added the file."""

    def counts(self, text: str) -> bool:
        """Return whether the file has `text`, of one line, more or less often since."""
        return self.removed.count(text) != self.added.count(text)


class ProjectHistory:
    """The git history of what is checked out at `root`; empty without git."""

    def __init__(self, root: str, commit: str, now: float) -> None:
        """`commit` is the one checked out, "" without git; commits after `now`, in seconds since
        the epoch, do not count. Runs no git yet.
        """
        self._root = root
        self._now = now
        self._commit = commit
        self._texts: dict[tuple[str, str], str] = {}
        self._places: dict[tuple[str, str], str] = {}
        self._line_times: dict[tuple[str, str], float] = {}
        self._changes: dict[str, Sequence[FileRevision]] = {}
        self._changes_below: dict[str, Mapping[str, Sequence[FileRevision]]] = {}
        self._renames: dict[str, Mapping[str, str]] = {}
        self._touched: Mapping[str, list[FileCommit]] = {}
        self._added: dict[str, FileCommit | None] = {}
        self._times: dict[str, Mapping[str, tuple[int, int]]] = {}
        self._removed: dict[tuple[str, ...], Sequence[tuple[FileCommit, str]]] = {}
        self._files: dict[tuple[str, str], Sequence[str]] = {}
        """The files with each word that was searched in a commit."""
        self._lines: dict[tuple[str, str], Sequence[tuple[str, str]]] = {}
        self.is_final = True
        """Whether a later check of the same commit will find the same: git answered in time, and no
        commit was left out because it is of the future.
        """
        self._touched_from = float("inf")
        """The moment from which `_touched` is complete."""

    @cached_property
    def graph(self) -> CommitGraph:
        """The commits of all branches; empty without git."""
        answer = self._run(
            *("log", "-z", "--decorate=full", "--branches", "--tags", "--remotes", "HEAD"),
            f"--max-count={_MOST_COMMITS}",
            f"--format={COMMIT_FORMAT}",
        )
        return CommitGraph(list(parse_commits(answer.split("\0"))), self._commit)

    @cached_property
    def remotes(self) -> tuple[str, ...]:
        """The addresses of the remote repositories."""
        answer = self._run("config", r"^remote\..*\.url$")
        return tuple(it.partition("\n")[2] for it in answer.split("\0") if it)

    def find_added(self, path: str) -> FileCommit | None:
        """Return the first commit that added the file at `path`; None where it is not known."""
        if path not in self._added:
            words = ("log", "--no-renames", "-z", "--relative", "--diff-filter=A", "--name-only")
            answer = self._run(*words, f"--format={_FORMAT}", "--", f":(literal){path}")
            commits = [commit for commit, _ in _parse_log(answer.split("\0"))]
            self._added[path] = commits[-1] if commits else None
        return self._added[path]

    def find_times(self, folder: str) -> Mapping[str, tuple[int, int]]:
        """Return when the first and the last commit of each file below `folder` were made, in
        seconds since the epoch.
        """
        if folder not in self._times:
            times: dict[str, tuple[int, int]] = {}
            for commit, paths in self._log("--", f":(literal){folder}"):
                for path in paths:
                    times[path] = (commit.at, times.get(path, (0, commit.at))[1])
            self._times[folder] = times
        return self._times[folder]

    def find_removed(
        self, word: str, *paths: str, since: str = ""
    ) -> Sequence[tuple[FileCommit, str]]:
        """Return the lines with `word` that commits removed from the files at `paths`, which may be
        globs of git, newest first, each with its commit: of those after the commit `since`, or all.
        """
        if (word, since, *paths) not in self._removed:
            limits = (f"-G{_escape(word)}", f"--max-count={_MOST_COMMITS_COMPARED}")
            wanted = ("-p", "-U0", "--no-renames", "--no-color", f"--format={_FORMAT}")
            only = [path if path.startswith(":(") else f":(literal){path}" for path in paths]
            commits = (f"{since}..{self._commit}",) if since else ()
            answer = self._run("log", *wanted, *limits, *commits, "--", *only)
            self._removed[word, since, *paths] = list(_parse_removed(answer.split("\n"), word))
        return self._removed[word, since, *paths]

    def find_hunks(self, *paths: str) -> Iterator[ReplacedLines]:
        """Yield the lines that commits replaced in the files at `paths`, which are globs of git,
        newest first.
        """
        limits = ("--no-renames", "--no-color", "--diff-filter=M", f"--format={_FORMAT}")
        answer = self._run("log", "-p", "-U0", "--relative", *limits, "--", *paths)
        for text in answer.split(f"\n{MARK}"):
            head, _, rest = text.lstrip(MARK).partition("\n")
            short, at, subject = (*head.split(MARK, 2), "", "")[:3]
            commit = FileCommit(short, int(at) if at.isdigit() else 0, subject)
            if commit.at <= self._now:
                yield from _parse_hunks(commit, rest)

    def load_text_at(self, commit: str, path: str) -> str:
        """Return the text of the file at `path` in `commit`; "" where it has none."""
        if (commit, path) not in self._texts:
            words = ("-h", "-I", "-e", "", commit, "--", f":(literal){path}")
            self._texts[commit, path] = self._run("grep", *words)
        return self._texts[commit, path]

    def find_line_time(self, path: str, text: str, folder: str) -> float:
        """Return when `text`, of one line, came to the file at `path`, or to the one from which git
        knows that it was moved, in seconds since the epoch; 0 where no commit has it. The files of
        `folder` are asked for together.
        """
        if (path, text) not in self._line_times:
            changes = self._load_changes(path, folder) if text else ()
            change = next((it for it in changes if it.counts(text)), None)
            is_whole = change is not None and change is changes[-1] and change.is_new
            source = self._find_source(path, change.commit) if change and is_whole else ""
            before = self.find_line_time(source, text, folder) if source else 0.0
            self._line_times[path, text] = before or (float(change.commit.at) if change else 0.0)
        return self._line_times[path, text]

    def _load_changes(self, path: str, folder: str) -> Sequence[FileRevision]:
        """Return what each commit changed in the file at `path`, newest first. Those of the last
        few files are kept; who asks for more checks many notes, and those of all files of `folder`
        are read at once, unless they are too many.
        """
        if path not in self._changes:
            if len(self._changes) == _MOST_FILES_KEPT:
                if folder not in self._changes_below:
                    self._changes_below[folder] = self._load_changes_below(folder)
                if path in self._changes_below[folder]:
                    return self._changes_below[folder][path]
                del self._changes[next(iter(self._changes))]
            answer = self._run(*_CHANGES, "--", f":(literal){path}")
            self._changes[path] = [
                change for text in answer.split(f"\n{MARK}") for _, change in _parse_changes(text)
            ]
        return self._changes[path]

    def _load_changes_below(self, folder: str) -> Mapping[str, Sequence[FileRevision]]:
        """Return the changes of the files of `folder` by their paths; empty where they are too
        many, and for names that git quotes.
        """
        words = (*_CHANGES[1:], "--", f":(literal){folder}")
        answer = git.run_git(self._root, _CHANGES[0], *words, seconds=_SECONDS)
        found: dict[str, list[FileRevision]] = defaultdict(list)
        for text in (answer or b"").decode("utf-8", "surrogateescape").split(f"\n{MARK}"):
            for path, change in _parse_changes(text):
                found[path].append(change)
        return found

    def _find_source(self, path: str, commit: FileCommit) -> str:
        """Return the path from which `commit` moved a file to `path`; "" where it did not."""
        renamed = self._renamed_in(commit.id).items()
        return next((old for old, new in renamed if new == path), "")

    def find_place(self, text: str, besides: str) -> str:
        """Return the first line of the code with `text`, with its place: of what is checked out,
        without comments and files below the folder `besides`, "" for none; "" where none has it.
        """
        if (text, besides) not in self._places:
            self._places[text, besides] = next(self._list_places(text, besides), "")
        return self._places[text, besides]

    def _list_places(self, text: str, besides: str) -> Iterator[str]:
        words = ("-n", "-z", "-I", "-w", "-F", "-e", text, self._commit)
        for line in self._run("grep", *words, "--", *_CODE).split("\n"):
            place, _, rest = line.partition("\0")
            number, _, content = rest.partition("\0")
            path = place.removeprefix(f"{self._commit}:")
            is_here = bool(besides) and path.startswith(besides)
            if number and not is_here and not COMMENT.match(content):
                yield f"{path}:{number}: {content.strip()[:_MOST_QUOTED]}"

    def search_words_at(
        self, words_of: Mapping[str, Collection[str]], step: Callable[[], None]
    ) -> None:
        """Search the code of some commits for the words of each: of several at once, as git reads
        what they share only once. `step` is called before each search.
        """
        left, most = list(words_of), 1
        while left:
            step()
            commits, left = left[:most], left[most:]
            started = monotonic()
            self._search_at(commits, sorted({it for each in commits for it in words_of[each]}))
            # a search of a large project must end in time
            is_quick = (monotonic() - started) * _SEARCHES_IN_TIME < _SECONDS
            most = min(2 * most, _MOST_COMMITS_SEARCHED) if is_quick else max(most // 2, 1)

    def is_searched(self, commit: str, word: str) -> bool:
        """Return whether it is known which files of `commit` have `word`."""
        return (commit, word) in self._files

    def find_files_at(self, commit: str, word: str) -> Sequence[str]:
        """Return the files of `commit` with `word`; pages and data are not searched. Empty where
        git does not know all contents.
        """
        if (commit, word) not in self._files:
            self._search_at([commit], [word])
        return self._files[commit, word]

    def _search_at(self, commits: Sequence[str], words: Sequence[str]) -> None:
        most = max(1, _LONGEST_PATTERN // (max(map(len, words), default=0) + 1))
        for at in range(0, len(words), most):
            self._search_some_at(commits, words[at : at + most])

    def _search_some_at(self, commits: Sequence[str], words: Sequence[str]) -> None:
        plain = "|".join(it for it in words if _PLAIN_WORD.fullmatch(it))
        others = (_SIGN.sub(r"\\\g<0>", it) for it in words if not _PLAIN_WORD.fullmatch(it))
        # one pattern of all words is ten times as fast as a hundred patterns; where words with
        # signs begin alike, though, only the longest would be tried
        patterns = [part for it in (plain, *others) if it for part in ("-e", it)]
        answer = self._run("grep", "-z", "-I", "-o", "-w", "-E", *patterns, *commits, "--", *_CODE)
        found = _parse_grep(answer, words)
        for key in product(commits, words):
            self._files[key] = tuple(found.get(key, ()))

    def find_lines_at(self, commit: str, word: str) -> Sequence[tuple[str, str]]:
        """Return the lines of the code of `commit` with a word, each with its file before it."""
        if (commit, word) not in self._lines:
            files = self.find_files_at(commit, word)
            only = [f":(literal){it}" for it in files] if len(files) <= _MOST_NAMED else _CODE
            words = ("-z", "-I", "-w", "-F", "-e", word, commit, "--", *only)
            # without a path git would search all files
            answer = self._run("grep", *words) if files else ""
            places = (line.partition("\0")[::2] for line in answer.split("\n") if "\0" in line)
            self._lines[commit, word] = [
                (place.removeprefix(f"{commit}:"), text) for place, text in places
            ]
        return self._lines[commit, word]

    def _run(self, command: str, *words: str) -> str:
        """Return the output of a git command; "" where it fails, or without git."""
        if not self._commit:
            return ""
        started = monotonic()
        answer = git.run_git(self._root, command, *words, seconds=_SECONDS)
        # git config fails where nothing is set
        if answer is None and command != "config":
            is_late = monotonic() - started >= _SECONDS
            # where git answers otherwise, it refuses the same again: contents are missing, or too
            # much is printed
            works = git.run_git(self._root, "rev-parse", "HEAD", seconds=_SECONDS) is not None
            self.is_final = self.is_final and works and not is_late
        return (answer or b"").decode("utf-8", "surrogateescape")

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
        """Return the commits that changed `path` after a moment, in seconds since the epoch, newest
        first. One that added it is none: what a note names was there when it was written.
        """
        if after < self._touched_from:
            # the oldest note of a memory is seldom checked first
            self._touched_from = after - _MARGIN
            self._touched = self._touched_since(int(self._touched_from))
        return [commit for commit in self._touched.get(path, ()) if commit.at > after]

    def is_log(self, path: str, after: float) -> bool:
        """Return whether so many of the commits after a moment touched `path` that its changes say
        nothing of it, like those of a changelog.
        """
        own = len(self.find_commits(path, after))
        if own < _FEWEST_LOGGED:
            return False
        since = {commit for commits in self._touched.values() for commit in commits}
        return own > _LOGGED * sum(commit.at > after for commit in since)

    def _touched_since(self, moment: int) -> Mapping[str, list[FileCommit]]:
        touched: dict[str, list[FileCommit]] = defaultdict(list)
        for commit, paths in self._log(f"--since=@{moment}", "--diff-filter=a"):
            if commit.at > self._now:
                self.is_final = False
                continue
            for path in paths:
                touched[path].append(commit)
        return touched

    def _log(self, *arguments: str) -> Iterator[tuple[FileCommit, list[str]]]:
        wanted = ("--no-renames", "--name-only", "--relative", "-z")
        limits = (f"--max-count={_MOST_COMMITS}", f"--format={_FORMAT}")
        yield from _parse_log(self._run("log", *wanted, *limits, *arguments).split("\0"))

    def _renamed_in(self, commit: str) -> Mapping[str, str]:
        """Return the new paths of the files that `commit` moved, by their old ones."""
        if commit not in self._renames:
            if len(self._renames) >= _MOST_COMMITS_COMPARED:
                return {}
            # an empty file resembles every other empty one
            moved = ("-M", "--no-rename-empty", "--diff-filter=R", "--name-status")
            wanted = ("-r", "-z", "--relative", *moved)
            words = self._run("diff-tree", "--no-commit-id", *wanted, commit).split("\0")
            self._renames[commit] = dict(zip(words[1::3], words[2::3], strict=False))
        return self._renames[commit]


def _parse_log(words: Iterable[str]) -> Iterator[tuple[FileCommit, list[str]]]:
    commit: FileCommit | None = None
    paths: list[str] = []
    for word in words:
        if word.startswith(MARK):
            if commit is not None:
                yield commit, paths
            _, short, at, subject = (*word.split(MARK, 3), "", "", "")[:4]
            commit, paths = FileCommit(short, int(at) if at.isdigit() else 0, subject), []
        elif word.strip("\n"):
            paths.append(word.lstrip("\n"))
    if commit is not None:
        yield commit, paths


def _escape(word: str) -> str:
    r"""Return `word` as a basic regular expression of git, which has no `\` before letters."""
    return re.sub(r"[.\[\]*^$\\]", lambda sign: f"[{sign[0]}]" if sign[0] in ".*$[" else ".", word)


def _parse_removed(lines: Iterable[str], word: str) -> Iterator[tuple[FileCommit, str]]:
    commit: FileCommit | None = None
    for line in lines:
        if line.startswith(MARK):
            _, short, at, subject = (*line.split(MARK, 3), "", "", "")[:4]
            commit = FileCommit(short, int(at) if at.isdigit() else 0, subject)
        elif commit and line.startswith("-") and not line.startswith("---") and word in line:
            yield commit, line[1:].strip()


def _parse_changes(text: str) -> Iterator[tuple[str, FileRevision]]:
    """Yield the changes of one commit with their paths, of the output of `git log -p`."""
    head, *of_files = text.lstrip(MARK).split("\ndiff --git ")
    short, at, subject = (*head.partition("\n")[0].split(MARK, 2), "", "")[:3]
    commit = FileCommit(short, int(at) if at.isdigit() else 0, subject)
    for of_file in of_files:
        head, *hunks = of_file.split("\n@@ ")
        # the path is there twice, behind `a/` and `b/`
        both = head.partition("\n")[0]
        path = both[2 : len(both) // 2]
        # the first line of a hunk is where it is
        lines = [line for hunk in hunks for line in hunk.split("\n")[1:]]
        removed = "\n".join(it[1:] for it in lines if it.startswith("-"))
        added = "\n".join(it[1:] for it in lines if it.startswith("+"))
        yield path, FileRevision(commit, removed, added, "\nnew file mode " in head)


def _parse_hunks(commit: FileCommit, text: str) -> Iterator[ReplacedLines]:
    for of_file in f"\n{text}".split("\ndiff --git ")[1:]:
        head, *hunks = of_file.split("\n@@ ")
        path = head.rpartition("\n+++ b/")[2].rstrip("\t")
        for hunk in hunks:
            lines = hunk.split("\n")[1:]
            removed = tuple(it[1:] for it in lines if it.startswith("-"))
            if removed and len(removed) < len(lines):
                added = tuple(it[1:] for it in lines if it.startswith("+"))
                yield ReplacedLines(path, commit, removed, added, "\n".join(removed).lower())


def _is_part(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _parse_grep(answer: str, words: Iterable[str]) -> Mapping[tuple[str, str], Mapping[str, None]]:
    """Return the paths by commit and word, in order, of the output of `git grep -z -o`: commit,
    colon and path, NUL, word. Of words that begin at one place, git prints the longest.
    """
    inside = {
        word: [word, *(it for it in words if it in word and _is_part(it, word))]
        for word in words
        if not _PLAIN_WORD.fullmatch(word)
    }
    found: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for line in answer.split("\n"):
        place, _, word = line.partition("\0")
        commit, _, path = place.partition(":")
        for each in inside.get(word, (word,)) if word else ():
            found[commit, each][path] = None
    return found


@cache
def parse_end_of_day(stamp: str) -> float | None:
    """Return the end of the day of a date in a note, in seconds since the epoch: work is committed
    after its note is written. None where it is no ISO 8601 date.
    """
    try:
        return datetime.fromisoformat(stamp).replace(hour=23, minute=59, second=59).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
