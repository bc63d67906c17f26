"""Facts of a project that a model asks for when it checks notes: lines, files, folders, commits.

Everything is read only, and only below the project's root: what git tracks or would track, never an
ignored file, never through a link.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from ricordo import git
from ricordo.lint.claims.history import CODE_ENDINGS, ProjectHistory
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.storage.project_tree import (
    FOREIGN_FOLDERS,
    ProjectTree,
    is_in_git,
    list_project,
)
from ricordo.text import clip, make_one_line

MAX_LOOKUPS = 60
"""Lookups of one round."""
_LONGEST_ASKED = 200
"""Characters of what is looked up."""
_SECONDS = 4.0
"""Per git command."""
MOST_FILES, _MOST_HITS, _MOST_NUMBERS = 5, 15, 12
"""Files that are shown of one search, lines of all of them, and numbers of further lines of a file.
"""
_WIDEST = 300
"""Cells of a line."""
_SHORT = 160
"""Lines of a file that is shown whole."""
_LINES_BEFORE, _LINES_AFTER = 10, 50
"""Lines of a longer file around the one that was asked for."""
_LEAST_LETTERS = 4
"""Of a text that is searched within words; a shorter one, and a number, only as a word."""
_MOST_NAMES, _MOST_COMMITS, _MOST_REFS = 80, 8, 20
_MOST_SAME = 3
"""Files of the same name in other folders."""
_MOST_CHANGED_FILES, _MOST_CHANGED = 40, 60
"""Files and lines that a commit changed."""
_NEWEST = 15
"""Commits of the summary."""
SOURCE = "project: "
"""Begins the source of evidence from the project; the path of a file, or “git log”, follows."""
_LOG = f"{SOURCE}git log"


class LookupKind(StrEnum):
    """What can be looked up."""

    SEARCH = "search"
    """The lines of files with a text, whatever its case."""
    FILE = "file"
    """The lines of a file around a line."""
    FOLDER = "folder"
    """The names in a folder."""
    COMMITS = "commits"
    """The commits whose message has a text, or that changed a path."""
    NOTE = "note"
    """A note in full, by its id or path."""


_KINDS = frozenset(kind.value for kind in LookupKind)


class Lookup(NamedTuple):
    """One thing to look up."""

    kind: LookupKind
    what: str
    line: int = 0


class ProjectFact(NamedTuple):
    """The result of a lookup, or a part of it."""

    title: str
    """What it shows, in Ricordo's words and the words that were asked for."""
    source: str
    """The source of quotes from it."""
    lines: tuple[tuple[str, str], ...]
    """The lines, each with the mark before it: its number, or nothing."""

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(line for _, line in self.lines)


def read_lookups(given: object) -> list[Lookup]:
    """Return the lookups of a model's answer; those that are none are skipped."""
    entries = given if isinstance(given, list) else []
    lookups = dict.fromkeys(filter(None, map(_read_lookup, entries)))
    return list(lookups)[:MAX_LOOKUPS]


def _read_lookup(entry: object) -> Lookup | None:
    match entry:
        case {"kind": str(kind), "what": str(what), "line": int(line)} if kind in _KINDS:
            wanted = make_one_line(what).strip()
            is_short = 0 < len(wanted) <= _LONGEST_ASKED
            return Lookup(LookupKind(kind), wanted, max(0, line)) if is_short else None
    return None


class ProjectReader:
    """Reads facts of the project at a root."""

    def __init__(
        self, root: str, memory_root: str, now: datetime, step: Callable[[], None]
    ) -> None:
        """`memory_root` is the folder of the memory: where it lies in the project, its notes are no
        evidence. `step` is called regularly; what it raises is raised here. Reads nothing yet.
        """
        self._now = now
        self._root = os.path.realpath(root)
        inside = os.path.relpath(os.path.realpath(memory_root), self._root)
        self._memory = "" if inside in (".", "") or inside.startswith("..") else f"{inside}/"
        self._step = step

    @cached_property
    def _tree(self) -> ProjectTree:
        return list_project(self._root, self._step)

    @cached_property
    def _history(self) -> ProjectHistory:
        return ProjectHistory(self._root, self._tree.commit, self._now.timestamp())

    @cached_property
    def _is_in_git(self) -> bool:
        return is_in_git(self._root)

    def summarize(self) -> list[ProjectFact]:
        """Return what a reader sees first: the names at the top, and the newest commits, branches
        and tags.
        """
        top = self._list_folder("")
        facts = [
            ProjectFact(
                "the top folder of the project, without what git ignores",
                f"{SOURCE}.",
                _mark("", top),
            )
        ]
        if not self._is_in_git:
            return facts
        log = self._log("HEAD", f"--max-count={_NEWEST}")
        head = self._git("rev-parse", "--abbrev-ref", "HEAD").strip()
        if log:
            facts.append(ProjectFact(f"the newest commits of {head}", _LOG, _mark("", log)))
        every = ("--branches", "--remotes", "--tags")
        limits = ("--simplify-by-decoration", f"--max-count={_MOST_REFS}")
        refs = self._git("log", *every, *limits, "--format=%cs%x09%D")
        rows = (line.partition("\t") for line in refs.split("\n"))
        named = [_cut(f"{day} {names}") for day, _, names in rows if names]
        if named:
            facts.append(ProjectFact("branches and tags", _LOG, _mark("", named)))
        return facts

    def date_notes(self, notes: Mapping[str, Note]) -> tuple[tuple[str, str], ...]:
        """Return lines with the file of each of the `notes`, by their ids, and when it was last
        changed: by the history of the project where they lie in it, else by the file.
        """
        is_inside = self._memory and self._is_in_git
        times = self._history.find_times(self._memory) if is_inside else {}

        def get_moment(note: Note) -> str:
            first_and_last = times.get(f"{self._memory}{note.path}")
            changed = first_and_last[1] if first_and_last else note.facts.modified
            return datetime.fromtimestamp(changed).strftime("%Y-%m-%d %H:%M")

        lines = (
            f"{id} is {make_one_line(note.path)}, last changed on {get_moment(note)}"
            for id, note in notes.items()
        )
        return _mark("", lines)

    def tell_day(self) -> str:
        """Return the title of a fact with the day of today."""
        return f"today is {self._now.date().isoformat()}"

    def look_up(self, lookup: Lookup) -> list[ProjectFact]:
        """Return what the project has of a lookup, or one fact that says that it has nothing."""
        self._step()
        readers = {
            LookupKind.SEARCH: self._search,
            LookupKind.FILE: self._read_file,
            LookupKind.FOLDER: self._read_folder,
            LookupKind.COMMITS: self._find_commits,
        }
        read = readers.get(lookup.kind)
        return list(read(lookup)) if read else []

    def _search(self, lookup: Lookup) -> Iterator[ProjectFact]:
        wanted = lookup.what
        where = ("--untracked",) if self._is_in_git else ("--no-index", "--exclude-standard")
        is_word = wanted.isalnum() and (len(wanted) < _LEAST_LETTERS or wanted.isdigit())
        how = ("-n", "-z", "-I", "-i", "-E", "--no-color", *(("-w",) if is_word else ()))
        only = (f":(exclude,literal){self._memory}",) if self._memory else ()
        words = (*how, *where, "-e", _match_text(wanted), "--", ".", *only)
        output = git.run_git(self._root, "grep", *words, seconds=_SECONDS)
        if output is None:
            yield _say(f"The search for “{wanted}” failed or found too much.")
            return
        by_file: dict[str, list[tuple[str, str]]] = {}
        for line in output.decode("utf-8", "replace").split("\n"):
            path, _, rest = line.partition("\0")
            number, _, text = rest.partition("\0")
            if number.isdigit():
                by_file.setdefault(path, []).append((number, _cut_around(text, wanted)))
        if not by_file:
            yield _say(f"No file of the project has “{wanted}”, {_NOT_SEARCHED}.")
        count = sum(map(len, by_file.values()))
        ranked = sorted(by_file.items(), key=lambda item: _rank_file(item[0]))
        files = ranked[:MOST_FILES]
        most = _MOST_HITS // max(1, len(files))
        for path, lines in files:
            shown, further = lines[:most], lines[most:][:_MOST_NUMBERS]
            more = f", also {', '.join(number for number, _ in further)}" if further else ""
            title = (
                f"{make_one_line(path)}: {len(shown)} of {len(lines)} lines with “{wanted}”{more}; "
                f"{len(by_file)} files have {count}"
            )
            yield ProjectFact(title, _name(path), tuple(shown))

    def _read_file(self, lookup: Lookup) -> Iterator[ProjectFact]:
        path = lookup.what.removeprefix("./").strip("/")
        if self._is_of_memory(path):
            yield _say(f"{path} is in the folder of the memory: look it up as a note.", _name(path))
            return
        raw = self._tree.read(path)
        if raw is None or b"\0" in raw:
            is_known = path in self._tree.files
            says = _say(f"{path} exists, but is no text.", _name(path)) if is_known else None
            yield says or self._say_missing(path, "file")
            return
        lines = raw.decode("utf-8", "replace").split("\n")
        at = min(max(lookup.line, 1), len(lines))
        is_short = len(lines) <= _SHORT
        first = 1 if is_short else max(1, at - _LINES_BEFORE)
        last = len(lines) if is_short else min(len(lines), at + _LINES_AFTER)
        numbered = [(str(number), _cut(lines[number - 1])) for number in range(first, last + 1)]
        title = f"{path}, lines {first} to {last} of {len(lines)}"
        yield ProjectFact(title, _name(path), tuple(numbered))

    def _read_folder(self, lookup: Lookup) -> Iterator[ProjectFact]:
        path = "" if lookup.what in (".", "/", "./") else lookup.what.removeprefix("./").strip("/")
        names = self._list_folder(path)
        if not names:
            yield self._say_missing(path, "folder")
            return
        yield ProjectFact(f"the folder {path or '.'}", _name(path or "."), _mark("", names))

    def _find_commits(self, lookup: Lookup) -> Iterator[ProjectFact]:
        if not self._is_in_git:
            yield _say("The project has no git history.")
            return
        wanted = lookup.what
        if _HASH.fullmatch(wanted):
            named = self._log("--no-walk", wanted)
            yield ProjectFact(f"the commit {wanted}", _LOG, _mark("", named or [_NO_COMMIT]))
            if named:
                yield from self._show_changes(wanted)
            return
        limits = (f"--max-count={_MOST_COMMITS}",)
        message = ("-i", "-F", f"--grep={wanted}", *limits)
        searches = (
            (f"commits whose message has “{wanted}”", ("HEAD", *message)),
            (f"commits that are not merged and say “{wanted}”", (*_UNMERGED, *message)),
            (f"commits that changed {wanted}", ("HEAD", *limits, "--", _match_path(wanted))),
        )
        is_empty = True
        for title, words in searches:
            commits = self._log(*words)
            if commits:
                is_empty = False
                yield ProjectFact(title, _LOG, _mark("", commits))
        if is_empty:
            yield _say(f"No commit has “{wanted}” in its message, or changed such a path.", _LOG)

    def _show_changes(self, commit: str) -> Iterator[ProjectFact]:
        """Yield the files and the lines that a commit changed, without those of the memory and of
        files that git ignores by now: what was committed by mistake is nobody's business.
        """
        how = ("-r", "--root", "--no-commit-id", "--no-color", "--no-renames")
        fields = self._git("diff-tree", *how, "-z", "--name-status", commit).split("\0")
        changed = {
            path: how_changed
            for how_changed, path in zip(fields[::2], fields[1::2], strict=False)
            if not self._is_of_memory(path)
        }
        paths = list(changed)[:_MOST_CHANGED_FILES]
        if not paths:
            return
        ignored = git.find_ignored(self._root, paths, _SECONDS)
        shown = [path for path in paths if path not in ignored] if ignored is not None else []
        if not shown:
            return
        names = [_cut(f"{changed[path]} {make_one_line(path)}") for path in shown]
        title = f"what the commit {commit} added (A), changed (M) or deleted (D)"
        count = f", {len(shown)} of {len(changed)} files"
        yield ProjectFact(title + count, _LOG, _mark("", names))
        only = [f":(literal){path}" for path in shown]
        diff = self._git("diff-tree", *how, "-p", "--unified=0", commit, "--", *only)
        lines = [line for line in diff.split("\n") if line and not _BETWEEN.match(line)]
        if lines:
            count = f", {min(len(lines), _MOST_CHANGED)} of {len(lines)} lines"
            fact = _mark("", map(_cut, lines[:_MOST_CHANGED]))
            yield ProjectFact(f"what the commit {commit} changed{count}", _LOG, fact)

    def _say_missing(self, path: str, what: str) -> ProjectFact:
        """Return the fact that the project has no such file or folder, with the commits that
        changed it before.
        """
        shown = make_one_line(path)
        says = [f"The project has no {what} {shown} that git tracks or would track."]
        if self._is_in_git and path:
            changed = ("HEAD", "--max-count=2", "--", f":(literal){path}")
            says += [f"{commit} changed it." for commit in self._log(*changed)]
            moved = self._history.find_new_path(path)
            says += [f"It was moved to {make_one_line(moved)}."] if moved else []
        same = self._tree.by_name.get(path.rpartition("/")[2].lower(), ())
        named = [make_one_line(it) for it in same if not self._is_of_memory(it)][:_MOST_SAME]
        says += [f"Of that name there is {', '.join(named)}."] if named else []
        return ProjectFact(f"{what} {shown}", _name(path), _mark("", says))

    def _list_folder(self, folder: str) -> Sequence[str]:
        """Return the names in a folder of the project, folders with `/`; none where there is no
        such folder.
        """
        start = f"{folder}/" if folder else ""
        names: dict[str, int] = {}
        for path in self._tree.files:
            if path.startswith(start) and not self._is_of_memory(path):
                name, slash, _ = path[len(start) :].partition("/")
                names[name + slash] = names.get(name + slash, 0) + 1
        shown = [
            f"{name} ({count} files)" if name[-1] == "/" else name for name, count in names.items()
        ]
        more = [f"and {len(shown) - _MOST_NAMES} more"] if len(shown) > _MOST_NAMES else []
        return [*(_cut(name) for name in sorted(shown)[:_MOST_NAMES]), *more]

    def _is_of_memory(self, path: str) -> bool:
        return bool(self._memory) and path.startswith(self._memory)

    def _log(self, *words: str) -> list[str]:
        """Return commits, a line each: id, day and subject."""
        lines = self._git("log", "--format=%h %cs %s", *words).split("\n")
        return [_cut(line) for line in lines if line]

    def _git(self, command: str, *words: str) -> str:
        output = git.run_git(self._root, command, *words, seconds=_SECONDS)
        return (output or b"").decode("utf-8", "replace")


_NOT_SEARCHED = "besides the memory and what git ignores"
_HASH = compile_lazily(r"(?=.*\d)[0-9a-f]{7,40}")
_NO_COMMIT = "The repository has no commit of that id."
_BETWEEN = compile_lazily(r"diff --git |index [0-9a-f]|--- |new file|similarity|old mode|new mode")
"""Begins a line between the changes of a diff that says nothing."""
_PIECE = compile_lazily(r"\w+|[^\w\s]+")
_SIGN = compile_lazily(r"[.^$*+?()\[\]{}|\\]")
"""A character that means something in an extended expression."""
_UNMERGED = ("--branches", "--remotes", "--not", "HEAD")
"""The commits of all branches that are not part of the one that is checked out."""


def _match_text(wanted: str) -> str:
    """Return the extended expression for a text that matches it with other blanks too: none or any
    around a sign, some between two words.
    """
    found = ""
    pieces = _PIECE.findall(wanted)
    for before, piece in zip(("", *pieces), pieces, strict=False):
        is_between_words = before[-1:].isalnum() and piece[:1].isalnum()
        found += "[[:blank:]]+" if is_between_words else "[[:blank:]]*" if before else ""
        found += _SIGN.sub(r"\\\g<0>", piece)
    return found


def _rank_file(path: str) -> int:
    """Return the sort key of a file in which something was found: code first, then pages and
    settings, then data and what nobody in the project writes.
    """
    if not FOREIGN_FOLDERS.isdisjoint(path.lower().split("/")):
        return 3
    return 2 if path.endswith(_DATA) else 0 if path.endswith(CODE_ENDINGS) else 1


_DATA = (".csv", ".json", ".jsonl", ".lock", ".log", ".map", ".min.js", ".svg", ".tsv", ".xml")


def _match_path(wanted: str) -> str:
    """Return the pattern of git for a path, or for a name in any folder."""
    return f":(literal){wanted}" if "/" in wanted else f":(glob)**/{glob.escape(wanted)}"


def _mark(mark: str, lines: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((mark, line) for line in lines)


def _say(text: str, source: str = f"{SOURCE}search") -> ProjectFact:
    return ProjectFact("nothing found", source, (("", text),))


def _name(path: str) -> str:
    return f"{SOURCE}{make_one_line(path)}"


def _cut_around(line: str, wanted: str) -> str:
    """Return a line, cut so that the first `wanted` in it is shown."""
    at = line.lower().find(wanted.lower())
    start = max(0, at - _WIDEST // 2)
    is_long = len(line) > _WIDEST and start > 0
    return _cut(f"…{line[start:]}" if is_long else line)


def _cut(line: str) -> str:
    return clip(line.rstrip("\r"), _WIDEST)
