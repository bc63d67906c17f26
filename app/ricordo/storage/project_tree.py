"""The files of a project against which notes are checked: listed and read, never followed out of it
and never changed.

A project is as hostile as a note: its links are not followed, what is no plain file is not opened,
and how much is looked at is bounded.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ricordo import git
from ricordo.storage.foreign_file import read_plain_file

_MOST_PATTERNS = 1_000
_MOST_WILD = 2
"""How often a pattern may go over folders: each takes as long as all of the path."""
_LONGEST = 500
"""Characters of a pattern; what is longer was not written by a person."""


_ANY = "[^/]*"
_OVER = ".*"


class _Pattern(NamedTuple):
    under: str
    """The folder whose file has it, with `/` at its end; "" for the root."""
    expression: re.Pattern[str]
    only_folders: bool
    keeps: bool
    """Whether it takes back what an earlier one said."""


class Ignored:
    """The patterns of the `.gitignore` files of a project."""

    def __init__(self, files: Iterable[tuple[str, str]] = ()) -> None:
        """`files` are the folder ("" for the root) and the text of each file, outer ones first."""
        self._patterns: list[_Pattern] = []
        for folder, text in files:
            self.add(folder, text)

    def add(self, folder: str, text: str) -> None:
        """Take in the file that stands in `folder`."""
        for line in text.split("\n"):
            pattern = _read(f"{folder}/" if folder else "", line)
            if pattern is not None and len(self._patterns) < _MOST_PATTERNS:
                self._patterns.append(pattern)

    def covers(self, path: str, *, is_folder: bool = False) -> bool:
        """Say whether `path`, or a folder that it lies in, is left out."""
        parts = path.split("/")
        return any(
            self.names("/".join(parts[:count]), is_folder=is_folder or count < len(parts))
            for count in range(1, len(parts) + 1)
        )

    def names(self, path: str, *, is_folder: bool) -> bool:
        """Say whether `path` itself is left out, whatever holds for the folders that it lies in."""
        for pattern in reversed(self._patterns):
            inside = path.startswith(pattern.under) and (is_folder or not pattern.only_folders)
            if inside and pattern.expression.fullmatch(path[len(pattern.under) :]):
                return not pattern.keeps
        return False


def _read(under: str, line: str) -> _Pattern | None:
    text = line.rstrip("\r")
    if not text.endswith("\\ "):
        text = text.rstrip(" ")
    if not text or text.startswith("#") or len(text) > _LONGEST or text.count("**") > _MOST_WILD:
        return None
    keeps = text.startswith("!")
    text = text[1:] if keeps else text
    only_folders = text.endswith("/")
    text = text.rstrip("/")
    anchored = "/" in text
    body = glob_expression(text.lstrip("/"))
    try:
        expression = re.compile(body if anchored else rf"(?:.*/)?{body}")
    except re.error:
        return None
    return _Pattern(under, expression, only_folders, keeps) if text else None


def glob_expression(pattern: str) -> str:
    """Return the expression for a glob as git understands it: `*` and `?` stay within a name, `**`
    goes over folders. What stands between two `*` of a name is looked for once, where it comes
    first, so that no pattern takes long.
    """
    pieces = list(_pieces(re.sub(r"\*{3,}", "**", pattern)))
    stars = [at for at, piece in enumerate(pieces) if piece == _ANY]
    found = pieces[: stars[0]] if stars else pieces
    for at, following in pairwise([*stars, len(pieces)]):
        behind = "".join(pieces[at + 1 : following])
        is_last = following == len(pieces) or _OVER in behind
        found.append(f"{_ANY}{behind}" if is_last else f"(?>{_ANY}?{behind})")
    return "".join(found)


def _pieces(pattern: str) -> Iterator[str]:
    """The parts of the expression for a glob, in their order."""
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            yield from ("(?:", _OVER, "/)?")
            at += 3
        elif pattern.startswith("**", at):
            yield _OVER
            at += 2
        elif pattern[at] == "[" and (closing := pattern.find("]", at + 2)) > 0:
            inside = pattern[at + 1 : closing].replace("\\", "\\\\").replace("[", "\\[")
            yield f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]"
            at = closing + 1
        elif pattern[at] == "\\" and at + 1 < len(pattern):
            yield re.escape(pattern[at + 1])
            at += 2
        else:
            yield {"*": _ANY, "?": "[^/]"}.get(pattern[at], re.escape(pattern[at]))
            at += 1


MOST_FILES = 200_000
MOST_SECONDS = 20.0
LARGEST_FILE = 1024 * 1024
"""Bytes of a file that are read."""
NEVER_LISTED = frozenset(
    (
        *(".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", "venv", ".tox"),
        *(".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle", ".idea", ".terraform"),
    )
)
"""Folders that hold what tools made or fetched."""
_LS_FILES = ("-z", "--cached", "--others", "--exclude-standard")
_STEP = 256
_SECONDS = 4.0
"""For which git is asked: nobody who leaves waits longer."""
_IGNORE_BYTES = 64 * 1024


class Stamp(NamedTuple):
    """What shows that a file is the one that it was."""

    size: int
    modified_ns: int
    changed_ns: int


@dataclass(frozen=True, eq=False)
class ProjectTree:
    """The files of a project at one moment."""

    root: str
    files: Mapping[str, Stamp]
    """Plain files by their path in the project, with `/`."""
    links: frozenset[str]
    """Symbolic links; what lies behind them is not known."""
    ignored: Ignored
    commit: str
    """The commit that is checked out; "" without git."""
    remark: str = ""
    """What was not listed; "" where all was."""

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a file."""
        found: set[str] = set()
        for path in (*self.files, *self.links):
            above = path.rpartition("/")[0]
            while above and above not in found:
                found.add(above)
                above = above.rpartition("/")[0]
        return frozenset(found)

    @cached_property
    def by_name(self) -> Mapping[str, tuple[str, ...]]:
        """The paths of files and folders by their last name in lower case."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted((*self.files, *self.links, *self.folders)):
            found[path.rpartition("/")[2].lower()].append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    def is_like(self, other: ProjectTree, besides: str) -> bool:
        """Say whether nothing in the project is other than in `other`; what lies in the folder
        `besides`, with `/` at its end, does not count, unless it is "".
        """
        same = (self.commit, self.links, self.remark) == (other.commit, other.links, other.remark)
        if not same or not besides:
            return same and self.files == other.files
        mine, theirs = (
            {path: stamp for path, stamp in tree.files.items() if not path.startswith(besides)}
            for tree in (self, other)
        )
        return mine == theirs

    def has(self, path: str) -> bool:
        """Say whether a file or folder, spelled so, was listed."""
        return path in self.files or path in self.folders or path in self.links

    def stands(self, path: str) -> bool | None:
        """Say whether anything is at `path` on the disk, listed or not; None where a link or a
        lack of permission lies on the way.
        """
        at = self.root
        for name in path.split("/"):
            if name in ("", ".", ".."):
                return None
            at = os.path.join(at, name)
            try:
                mode = os.lstat(at).st_mode
            except (FileNotFoundError, NotADirectoryError):
                return False
            except (OSError, ValueError):
                return None
            if stat.S_ISLNK(mode):
                return True if at == os.path.join(self.root, path) else None
        return True

    def read(self, path: str, limit: int = LARGEST_FILE) -> bytes | None:
        """Return the first `limit` bytes of a listed file; None where it cannot be read."""
        return read_plain_file(os.path.join(self.root, path), limit) if path in self.files else None


def list_project(root: str, step: Callable[[], None]) -> ProjectTree:
    """Return the files of the project at `root`: those that git knows or would take, else those
    that no `.gitignore` leaves out. `step` is called every few milliseconds.
    """
    in_git = is_in_git(root)
    commit = _asked(root, "rev-parse", "HEAD") if in_git else None
    listed = _asked(root, "ls-files", *_LS_FILES) if in_git else None
    ignored = Ignored()
    if listed is None:
        paths = _walked(root, ignored)
    else:
        paths = (os.fsdecode(name) for name in listed.split(b"\0"))
    files, links, is_whole = _sorted_in(root, paths, step)
    count = len(files) + len(links)
    remark = "" if is_whole else f"the project was looked through up to {count:,} files"
    if listed is not None:
        _take_in(root, files, ignored)
    at = (commit or b"").decode("ascii", "replace").strip()
    return ProjectTree(root, files, frozenset(links), ignored, at, remark)


def is_in_git(root: str) -> bool:
    """Say whether git takes the files at `root` for its own: settings may name another place."""
    top = git.top_level(root)
    told = _asked(root, "rev-parse", "--show-toplevel") if top else None
    return told is not None and os.path.realpath(os.fsdecode(told).removesuffix("\n")) == top


def _asked(root: str, command: str, *words: str) -> bytes | None:
    return git.ask(root, command, *words, seconds=_SECONDS)


def _sorted_in(
    root: str, paths: Iterable[str], step: Callable[[], None]
) -> tuple[dict[str, Stamp], set[str], bool]:
    """The plain files and the links among `paths`, and whether that is all of them."""
    files: dict[str, Stamp] = {}
    links: set[str] = set()
    inside, until = _Inside(root), time.monotonic() + MOST_SECONDS
    for number, path in enumerate(paths):
        if number % _STEP == 0:
            step()
        if (path and len(files) + len(links) >= MOST_FILES) or time.monotonic() > until:
            return files, links, False
        _put(root, path, inside, files, links)
    return files, links, True


def _put(root: str, path: str, inside: _Inside, files: dict[str, Stamp], links: set[str]) -> None:
    """Sort one listed path in; what is neither a plain file nor a link is left out."""
    if not path or not inside.holds(path):
        return
    try:
        status = os.lstat(os.path.join(root, path))
    except (OSError, ValueError):
        return
    if stat.S_ISREG(status.st_mode):
        files[path] = Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    elif stat.S_ISLNK(status.st_mode):
        links.add(path)


class _Inside:
    """Knows which folders of a project are reached without a link."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known = {"": True}

    def holds(self, path: str) -> bool:
        """Say whether the folder in which `path` stands is inside the project."""
        folder = path.rpartition("/")[0]
        if folder not in self._known:
            self._known[folder] = self.holds(folder) and self._is_folder(folder)
        return self._known[folder]

    def _is_folder(self, folder: str) -> bool:
        if folder.rpartition("/")[2] in ("", ".", ".."):
            return False
        try:
            return stat.S_ISDIR(os.lstat(os.path.join(self._root, folder)).st_mode)
        except (OSError, ValueError):
            return False


def _walked(root: str, ignored: Ignored) -> Iterator[str]:
    """The paths below `root` that are not left out; `ignored` takes in every `.gitignore`."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        # so that whoever lists can stop, also where everything is left out
        yield ""
        raw = read_plain_file(os.path.join(root, folder, ".gitignore"), _IGNORE_BYTES)
        if raw:
            ignored.add(folder, raw.decode("utf-8", "replace"))
        for name, is_folder in _entries(os.path.join(root, folder)):
            path = f"{folder}/{name}" if folder else name
            if name in NEVER_LISTED or ignored.names(path, is_folder=is_folder):
                continue
            if is_folder:
                waiting.append(path)
            else:
                yield path


def _entries(folder: str) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
            return sorted(found, reverse=True)
    except OSError:
        return []


def _take_in(root: str, files: Mapping[str, Stamp], ignored: Ignored) -> None:
    """Read the `.gitignore` files among `files`, outer ones first."""
    own = [path for path in files if path.rpartition("/")[2] == ".gitignore"]
    for path in sorted(own, key=lambda path: path.count("/")):
        raw = read_plain_file(os.path.join(root, path), _IGNORE_BYTES) or b""
        ignored.add(path.rpartition("/")[0], raw.decode("utf-8", "replace"))
