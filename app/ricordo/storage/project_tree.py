"""The files of a project against which notes are checked: listed and read, never changed.

A project is untrusted, like a note: links are not followed, only regular files are opened, and the
number of files and bytes is limited.
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
from ricordo.patterns import compile_lazily
from ricordo.storage.foreign_file import read_plain_file

_MOST_PATTERNS = 1_000
_MOST_WILD = 2
"""How many `**` a pattern may have: each one scans the whole path."""
_LONGEST = 500
"""Characters of a pattern; longer ones are ignored."""


_ANY = "[^/]*"
_OVER = ".*"


class _Pattern(NamedTuple):
    under: str
    """The folder of the `.gitignore`, with `/` at its end; "" for the root."""
    expression: re.Pattern[str]
    only_folders: bool
    is_negated: bool
    """Whether it includes again what an earlier one excluded."""


class IgnoreRules:
    """The patterns of the `.gitignore` files of a project."""

    def __init__(self, files: Iterable[tuple[str, str]] = ()) -> None:
        """Parse `files`, the folder ("" for the root) and the text of each, outer ones first."""
        self._patterns: list[_Pattern] = []
        self.texts: list[tuple[str, str]] = []
        """The folder and the text of each file, in order."""
        for folder, text in files:
            self.add(folder, text)

    def add(self, folder: str, text: str) -> None:
        """Add the patterns of the file in `folder`."""
        self.texts.append((folder, text))
        for line in text.split("\n"):
            pattern = _read(f"{folder}/" if folder else "", line)
            if pattern is not None and len(self._patterns) < _MOST_PATTERNS:
                self._patterns.append(pattern)

    def ignores(self, path: str, *, is_folder: bool = False) -> bool:
        """Return whether `path`, or a folder above it, is ignored."""
        parts = path.split("/")
        return any(
            self.matches("/".join(parts[:count]), is_folder=is_folder or count < len(parts))
            for count in range(1, len(parts) + 1)
        )

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Return whether a pattern ignores `path` itself, regardless of the folders above it."""
        for pattern in reversed(self._patterns):
            inside = path.startswith(pattern.under) and (is_folder or not pattern.only_folders)
            if inside and pattern.expression.fullmatch(path[len(pattern.under) :]):
                return not pattern.is_negated
        return False


def _read(under: str, line: str) -> _Pattern | None:
    text = line.rstrip("\r")
    if not text.endswith("\\ "):
        text = text.rstrip(" ")
    if not text or text.startswith("#") or len(text) > _LONGEST or text.count("**") > _MOST_WILD:
        return None
    is_negated = text.startswith("!")
    text = text[1:] if is_negated else text
    only_folders = text.endswith("/")
    text = text.rstrip("/")
    anchored = "/" in text
    body = glob_expression(text.lstrip("/"))
    try:
        expression = re.compile(body if anchored else rf"(?:.*/)?{body}")
    except re.error:
        return None
    return _Pattern(under, expression, only_folders, is_negated) if text else None


def glob_expression(pattern: str) -> str:
    """Return the regular expression for a git glob: `*` and `?` match within a name, `**` across
    folders. Text between two `*` of a name matches at its first place only, so that no pattern
    takes long.
    """
    parts = list(_translate_glob(re.sub(r"\*{3,}", "**", pattern)))
    stars = [at for at, part in enumerate(parts) if part == _ANY]
    result = parts[: stars[0]] if stars else parts
    for at, next_star in pairwise([*stars, len(parts)]):
        literal = "".join(parts[at + 1 : next_star])
        is_last = next_star == len(parts) or _OVER in literal
        result.append(f"{_ANY}{literal}" if is_last else f"(?>{_ANY}?{literal})")
    return "".join(result)


def _translate_glob(pattern: str) -> Iterator[str]:
    """Yield the parts of the regular expression for a glob, in order."""
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            yield from ("(?:", _OVER, "/)?")
            at += 3
        elif pattern.startswith("**", at):
            yield _OVER
            at += 2
        elif pattern[at] == "[" and (closing := pattern.find("]", at + 2)) > 0:
            yield _translate_class(pattern[at + 1 : closing])
            at = closing + 1
        elif pattern[at] == "\\" and at + 1 < len(pattern):
            yield re.escape(pattern[at + 1])
            at += 2
        else:
            yield {"*": _ANY, "?": "[^/]"}.get(pattern[at], re.escape(pattern[at]))
            at += 1


def _translate_class(inside: str) -> str:
    """Return the regular expression for what a glob has between brackets. Of a range whose ends are
    in the wrong order only the first end matches, as in git.
    """
    is_negated = inside[0] in "!^"
    allowed = "/" if is_negated else ""
    for first, last in re.findall(r"(?s)(.)(?:-(.))?", inside[is_negated:]):
        allowed += re.escape(first) + (f"-{re.escape(last)}" if first <= last else "")
    return f"[{'^' * is_negated}{allowed}]"


MOST_FILES = 200_000
MOST_SECONDS = 20.0
LARGEST_FILE = 1024 * 1024
"""Bytes; no more of a file is read."""
SKIPPED_FOLDERS = frozenset(
    (
        *(".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", "venv", ".tox"),
        *(".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle", ".idea", ".terraform"),
    )
)
"""Folders with files that tools generate or download."""
DOWNLOADED_FOLDERS = frozenset(
    (
        *("node_modules", "bower_components", "site-packages", "__pycache__", "venv"),
        *("vendor", "third_party", "pods"),
    )
)
"""Folders, in lower case, with the code of others, also where git has it."""
FOREIGN_FOLDERS = DOWNLOADED_FOLDERS | {"target", "build", "dist", "out", "coverage"}
"""Folders, in lower case, whose files nobody in the project writes, also where git has them."""
_LS_FILES = ("-z", "-t", "--cached", "--others", "--exclude-standard")
_LEFT_OUT = b"S "
"""How git marks a tracked file that it was told to leave out of the work tree."""
_STEP = 256
_SECONDS = 4.0
"""Limit for each call of git: quitting never waits longer."""
_IGNORE_BYTES = 64 * 1024


class FileStamp(NamedTuple):
    """Metadata that changes when a file is written."""

    size: int
    modified_ns: int
    changed_ns: int


@dataclass(frozen=True, eq=False)
class ProjectTree:
    """The files of a project at one moment."""

    root: str
    files: Mapping[str, FileStamp]
    """Regular files by their path in the project, with `/`."""
    links: frozenset[str]
    """Symbolic links and the folders of other repositories, which are not followed."""
    ignored: IgnoreRules
    commit: str
    """The checked-out commit; "" without git."""
    warning: str = ""
    """What was not listed; "" if all was."""
    refs: tuple[str, ...] = ()
    """The commits of all branches and tags, by the names of these."""
    left_out: frozenset[str] = frozenset()
    """Files that git tracks, but was told to leave out of the work tree."""

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        return (*self.files, *self.links, *self.left_out)

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder with a file in it or below."""
        folders: set[str] = set()
        for path in self._paths:
            above = path.rpartition("/")[0]
            while above and above not in folders:
                folders.add(above)
                above = above.rpartition("/")[0]
        return frozenset(folders)

    @cached_property
    def by_name(self) -> Mapping[str, tuple[str, ...]]:
        """The paths of files and folders by their last name in lower case."""
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted((*self._paths, *self.folders)):
            by_name[path.rpartition("/")[2].lower()].append(path)
        return {name: tuple(paths) for name, paths in by_name.items()}

    def is_same_as(self, other: ProjectTree, besides: str) -> bool:
        """Return whether the project is the same as in `other`, ignoring the folder `besides`, with
        `/` at its end, unless it is "".
        """
        mine_known, theirs_known = (
            (tree.commit, tree.refs, tree.links, tree.left_out, tree.warning)
            for tree in (self, other)
        )
        same = mine_known == theirs_known
        if not same or not besides:
            return same and self.files == other.files
        mine, theirs = (
            {path: stamp for path, stamp in tree.files.items() if not path.startswith(besides)}
            for tree in (self, other)
        )
        return mine == theirs

    def has(self, path: str) -> bool:
        """Return whether a file or folder of exactly that path was listed."""
        listed = (self.files, self.folders, self.links, self.left_out)
        return any(path in paths for paths in listed)

    def exists(self, path: str) -> bool | None:
        """Return whether `path` exists on the disk, listed or not; None if a link or a missing
        permission on the way prevents the check.
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
        """Return the first `limit` bytes of a listed file; None if it cannot be read."""
        return read_plain_file(os.path.join(self.root, path), limit) if path in self.files else None


def list_project(root: str, step: Callable[[], None]) -> ProjectTree:
    """Return the files of the project at `root`: those that git tracks or would track, else those
    that no `.gitignore` ignores. `step` is called every few milliseconds.
    """
    in_git, commit_id, refs = _find_commits(root)
    listed = _run_git(root, "ls-files", *_LS_FILES) if in_git else None
    ignored = IgnoreRules()
    if listed is None:
        paths = _walk(root, ignored)
    else:
        paths = (os.fsdecode(name[len(_LEFT_OUT) :]) for name in listed.split(b"\0"))
    files, links, is_complete = _classify(root, paths, step)
    count = len(files) + len(links)
    remark = "" if is_complete else f"only {count:,} files of the project were listed"
    if listed is not None:
        _read_gitignores(root, files, ignored)
    left_out = _find_left_out(listed or b"") - files.keys() - links
    return ProjectTree(root, files, frozenset(links), ignored, commit_id, remark, refs, left_out)


def _find_left_out(listed: bytes) -> frozenset[str]:
    """Return the files that git leaves out of the work tree, of its list of files."""
    if b"\0" + _LEFT_OUT not in b"\0" + listed:
        return frozenset()
    names = (name for name in listed.split(b"\0") if name.startswith(_LEFT_OUT))
    return frozenset(os.fsdecode(name[len(_LEFT_OUT) :]) for name in names)


def is_in_git(root: str) -> bool:
    """Return whether `root` is in a git work tree; git's settings may name another directory."""
    top = git.find_top_level(root)
    answer = _run_git(root, "rev-parse", "--show-toplevel") if top else None
    return answer is not None and _is_path(answer.removesuffix(b"\n"), top)


def _find_commits(root: str) -> tuple[bool, str, tuple[str, ...]]:
    """Return whether `root` is in a git work tree, the commit that is checked out there, "" if
    there is none, and those of all branches and tags.
    """
    top = git.find_top_level(root)
    answer = _run_git(root, "rev-parse", "--show-toplevel", "HEAD", "--all") if top else None
    if answer is None:
        # without a commit, it fails as a whole
        return is_in_git(root), "", ()
    shown, at, rest = _HASH_LINE.split(answer, maxsplit=1)
    is_inside = _is_path(shown, top)
    refs = tuple(rest.decode("ascii", "replace").split())
    return (True, at.decode("ascii"), refs) if is_inside else (False, "", ())


_HASH_LINE = compile_lazily(rb"\n([0-9a-f]{40,64})\n")


def _is_path(shown: bytes, path: str | None) -> bool:
    return os.path.realpath(os.fsdecode(shown)) == path


def _run_git(root: str, command: str, *words: str) -> bytes | None:
    return git.run_git(root, command, *words, seconds=_SECONDS)


def _classify(
    root: str, paths: Iterable[str], step: Callable[[], None]
) -> tuple[dict[str, FileStamp], set[str], bool]:
    """Return the regular files and the links among `paths`, and whether these are all."""
    files: dict[str, FileStamp] = {}
    links: set[str] = set()
    inside, until = _FolderCheck(root), time.monotonic() + MOST_SECONDS
    for number, path in enumerate(paths):
        if number % _STEP == 0:
            step()
        if (path and len(files) + len(links) >= MOST_FILES) or time.monotonic() > until:
            return files, links, False
        _add_path(root, path, inside, files, links)
    return files, links, True


def _add_path(
    root: str, path: str, inside: _FolderCheck, files: dict[str, FileStamp], links: set[str]
) -> None:
    """Add one listed path to `files` or `links`, if it is a regular file, a link or, of what git
    lists, a folder: that of another repository.
    """
    path = path.rstrip("/")
    if not path or not inside.contains(path):
        return
    try:
        status = os.lstat(os.path.join(root, path))
    except (OSError, ValueError):
        return
    if stat.S_ISREG(status.st_mode):
        files[path] = FileStamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    elif stat.S_ISLNK(status.st_mode) or stat.S_ISDIR(status.st_mode):
        links.add(path)


class _FolderCheck:
    """Checks and caches which folders of a project are reached without a link."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._cache = {"": True}

    def contains(self, path: str) -> bool:
        """Return whether the folder of `path` is inside the project."""
        folder = path.rpartition("/")[0]
        if folder not in self._cache:
            self._cache[folder] = self.contains(folder) and self._is_folder(folder)
        return self._cache[folder]

    def _is_folder(self, folder: str) -> bool:
        if folder.rpartition("/")[2] in ("", ".", ".."):
            return False
        try:
            return stat.S_ISDIR(os.lstat(os.path.join(self._root, folder)).st_mode)
        except (OSError, ValueError):
            return False


def _walk(root: str, ignored: IgnoreRules) -> Iterator[str]:
    """Yield the paths below `root` that are not ignored; adds every `.gitignore` to `ignored`."""
    pending = [""]
    while pending:
        folder = pending.pop()
        # so that the caller can stop even if all files are ignored
        yield ""
        raw = read_plain_file(os.path.join(root, folder, ".gitignore"), _IGNORE_BYTES)
        if raw:
            ignored.add(folder, raw.decode("utf-8", "replace"))
        for name, is_folder in _list_folder(os.path.join(root, folder)):
            path = f"{folder}/{name}" if folder else name
            if name in SKIPPED_FOLDERS or ignored.matches(path, is_folder=is_folder):
                continue
            if is_folder:
                pending.append(path)
            else:
                yield path


def _list_folder(folder: str) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
            return sorted(names, reverse=True)
    except OSError:
        return []


def _read_gitignores(root: str, files: Mapping[str, FileStamp], ignored: IgnoreRules) -> None:
    """Read the `.gitignore` files among `files`, outer ones first."""
    gitignores = [path for path in files if path.rpartition("/")[2] == ".gitignore"]
    for path in sorted(gitignores, key=lambda path: path.count("/")):
        raw = read_plain_file(os.path.join(root, path), _IGNORE_BYTES) or b""
        ignored.add(path.rpartition("/")[0], raw.decode("utf-8", "replace"))


def is_downloaded(path: str) -> bool:
    """Return whether a file of a project lies in a folder with the code of others."""
    return not DOWNLOADED_FOLDERS.isdisjoint(path.lower().split("/")[:-1])
