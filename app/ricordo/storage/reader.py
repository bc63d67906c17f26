"""Reading a memory from disk, whole or only what changed since it was last read.

Every directory is opened from the one above it and every file from its directory, never through
a symbolic link and never blocking, so that nothing outside the memory is read and no pipe or
device can hold us up.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ricordo.background import no_garbage_collection
from ricordo.errors import MemoryNotFound, MemoryUnreadable
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory, SkippedFile
from ricordo.memory.note import (
    LARGEST_NOTE,
    PREVIEW_BYTES,
    FileFacts,
    Note,
    ReadError,
    most_bytes,
    read_note,
    unreadable_note,
)
from ricordo.text import visible

MAX_FILES = 250_000
"""Directory entries; what lies beyond is named as not read."""
MAX_DEPTH = 32
SETTLING_NS = 100_000_000
"""A file that changed less long ago is read again next time: changes are stamped by a clock that
ticks every few milliseconds, and a second change can hide in one tick.
"""
_MANY = 500
"""Changed files, from which on walking the whole memory is the quicker way."""

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_DIRECTORY = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_IGNORED_FOLDERS = frozenset(("node_modules", "__pycache__"))
_UNKNOWN = FileFacts(size=0, modified=0.0, inode=0, changed_ns=0, settled=False)
_NOT_PLAIN = frozenset((errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.ENOTDIR))


def read_memory(root: str, layout: Layout, before: Memory | None = None) -> Memory:
    """Return the memory in the directory `root`.

    With `before`, an earlier reading of the same directory, notes whose file has not been touched
    since are taken from it. Raises MemoryNotFound where `root` is no directory and
    MemoryUnreadable where it cannot be listed.
    """
    real = os.path.realpath(root)
    known = before.by_path if before and before.root == real and before.layout == layout else {}
    return _walked(root, _Walk(real, layout, known))


def list_memory(root: str, layout: Layout) -> Memory:
    """Return the memory in the directory `root` with its indexes read, and of every other file no
    more than that it is there. Raises what `read_memory` raises.
    """
    return _walked(root, _Listing(os.path.realpath(root), layout, {}))


def _walked(root: str, walk: _Walk) -> Memory:
    try:
        handle = os.open(walk.root, _DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        raise MemoryNotFound(f"There is no memory directory at {visible(root)}.") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise MemoryUnreadable(f"{visible(root)} cannot be read: {reason}.") from None
    with no_garbage_collection():
        try:
            if walk.layout.holds_notes:
                walk.directory(handle, "", 0)
        finally:
            os.close(handle)
        walk.files.sort(key=lambda note: note.path)
        others, skipped = frozenset(walk.others), tuple(walk.skipped)
        return Memory(walk.root, walk.layout, tuple(walk.files), others, skipped)


def reread_files(before: Memory, paths: Iterable[str]) -> Memory:
    """Return `before` with the files at `paths`, relative to it, as they are on disk now.

    Where anything else than markdown files in known folders changed, everything is read anew.
    Raises MemoryNotFound and MemoryUnreadable.
    """
    wanted = set(paths)
    if len(wanted) > _MANY or not all(_in_known_folder(before, path) for path in wanted):
        return read_memory(before.root, before.layout, before)
    try:
        root = os.open(before.root, _DIRECTORY)
    except OSError:
        return read_memory(before.root, before.layout, before)
    walk = _Walk(before.root, before.layout, {})
    try:
        for path in wanted:
            walk.single(root, path)
    except OSError:
        return read_memory(before.root, before.layout, before)
    finally:
        os.close(root)
    if walk.skipped:
        return read_memory(before.root, before.layout, before)
    found: dict[str, Note | None] = {note.path: note for note in walk.files}
    gone: dict[str, Note | None] = dict.fromkeys(wanted & before.by_path.keys())
    return before.with_files({**gone, **found})


def _in_known_folder(memory: Memory, path: str) -> bool:
    folder, _, name = path.rpartition("/")
    known = not folder or folder in memory.others
    return known and is_note_name(name) and path not in memory.others


def is_note_name(name: str) -> bool:
    """Say whether a file of this name is read: markdown that is neither hidden nor an editor's
    leftover.
    """
    return name[-3:].lower() == ".md" and not is_leftover(name)


def is_leftover(name: str) -> bool:
    """Say whether a name is hidden or an editor's backup. One that holds a path as Windows writes
    it, left by an archive that was unpacked elsewhere, begins with a dot and is not hidden.
    """
    is_hidden = name[0] == "." and not name.startswith((".\\", "..\\"))
    return is_hidden or name[-1] == "~" or (name[0] == "#" and name[-1] == "#")


def list_names(root: str) -> frozenset[str]:
    """Return the names in the directory `root`, folders with a `/` behind; empty when it cannot
    be listed.
    """
    try:
        with os.scandir(root) as entries:
            return frozenset(e.name + ("/" if e.is_dir() else "") for e in entries)
    except OSError:
        return frozenset()


def list_folders(root: str) -> frozenset[str]:
    """Return `root` and the folders beneath it in which notes are looked for, none of them through
    a link.
    """
    found: set[str] = set()
    for folder, inside, _ in os.walk(root):
        found.add(folder)
        deep = folder.count(os.sep) - root.count(os.sep) >= MAX_DEPTH
        inside[:] = [] if deep or len(found) >= MAX_FILES else filter(_is_walked, inside)
    return frozenset(found)


def _is_walked(folder: str) -> bool:
    return not is_leftover(folder) and folder not in _IGNORED_FOLDERS


@dataclass
class _Walk:
    root: str
    layout: Layout
    known: Mapping[str, Note]
    files: list[Note] = field(default_factory=list)
    others: set[str] = field(default_factory=set)
    skipped: list[SkippedFile] = field(default_factory=list)
    seen: int = 0
    settled_before: int = field(default_factory=lambda: time.time_ns() - SETTLING_NS)
    """Files that changed after this moment are read again next time."""

    def directory(self, handle: int, prefix: str, depth: int) -> None:
        folders: list[str] = []
        with os.scandir(handle) as entries:
            for entry in entries:
                name = entry.name
                if self.seen >= MAX_FILES:
                    self.skipped.append(SkippedFile(prefix or ".", f"over {MAX_FILES:,} files"))
                    break
                self.seen += 1
                if is_leftover(name):
                    continue
                if entry.is_symlink():
                    self._symbolic_link(handle, prefix + name)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif name[-3:].lower() != ".md":
                    self.others.add(prefix + name)
                elif entry.is_file(follow_symlinks=False):
                    self._file(handle, name, prefix + name)
                else:
                    self.skipped.append(SkippedFile(prefix + name, ReadError.NOT_A_FILE.value))
        for name in sorted(folders):
            self._folder(handle, name, prefix + name, depth + 1)

    def single(self, root: int, path: str) -> None:
        """Read the one file at `path`, opening every folder on the way from the one above."""
        *folders, name = path.split("/")
        parents = [root]
        try:
            for folder in folders:
                parents.append(os.open(folder, _DIRECTORY, dir_fd=parents[-1]))
            self._file(parents[-1], name, path)
        finally:
            for parent in parents[1:]:
                os.close(parent)

    def _folder(self, parent: int, name: str, path: str, depth: int) -> None:
        self.others.add(path)
        if name in _IGNORED_FOLDERS:
            return
        if depth > MAX_DEPTH:
            self.skipped.append(SkippedFile(path, f"deeper than {MAX_DEPTH} folders"))
            return
        try:
            handle = os.open(name, _DIRECTORY, dir_fd=parent)
        except OSError as error:
            self.skipped.append(SkippedFile(path, error.strerror or "cannot be opened"))
            return
        try:
            self.directory(handle, path + "/", depth)
        except OSError as error:
            self.skipped.append(SkippedFile(path, error.strerror or "cannot be listed"))
        finally:
            os.close(handle)

    def _file(self, parent: int, name: str, path: str) -> None:
        old = self.known.get(path)
        if old is not None and _untouched(parent, name, old):
            self.files.append(old)
            return
        try:
            handle = os.open(name, _FILE, dir_fd=parent)
        except OSError as error:
            self._unopened(parent, name, path, error)
            return
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                self.skipped.append(SkippedFile(path, ReadError.NOT_A_FILE.value))
                return
            raw = self._read(handle, path, status.st_size)
        except OSError as error:
            self._unopened(parent, name, path, error)
            return
        finally:
            os.close(handle)
        facts = self._facts(status)
        if old is not None and old.readable and old.raw == raw and old.facts.size == facts.size:
            self.files.append(old if old.facts == facts else replace(old, facts=facts))
        else:
            self.files.append(read_note(path, raw, facts, self.layout))

    def _read(self, handle: int, path: str, size: int) -> bytes:
        if size > LARGEST_NOTE and size > most_bytes(self.layout.role(path)):
            return os.read(handle, PREVIEW_BYTES)
        raw = os.read(handle, size + 1)
        while len(raw) < size and (more := os.read(handle, size - len(raw) + 1)):
            raw += more
        return raw

    def _facts(self, status: os.stat_result) -> FileFacts:
        changed = status.st_ctime_ns
        return FileFacts(
            status.st_size,
            status.st_mtime,
            status.st_ino,
            changed,
            status.st_nlink,
            bool(status.st_mode & 0o222),
            changed < self.settled_before,
        )

    def _unopened(self, parent: int, name: str, path: str, error: OSError) -> None:
        if error.errno in _NOT_PLAIN:
            self.skipped.append(SkippedFile(path, ReadError.NOT_A_FILE.value))
            return
        try:
            facts = self._facts(os.stat(name, dir_fd=parent, follow_symlinks=False))
        except OSError:
            return
        refused = error.errno in (errno.EACCES, errno.EPERM)
        trouble = ReadError.NO_PERMISSION if refused else ReadError.DISK_ERROR
        self.files.append(unreadable_note(path, facts, self.layout, trouble))

    def _symbolic_link(self, parent: int, path: str) -> None:
        target = os.path.realpath(os.path.join(self.root, path))
        try:
            shown = os.readlink(os.path.basename(path), dir_fd=parent)
        except OSError:
            shown = "?"
        inside = target == self.root or target.startswith(self.root + os.sep)
        reason = f"a symbolic link to {visible(shown)}"
        fault = _fault_of_link(os.path.join(self.root, path), target, inside=inside)
        self.skipped.append(SkippedFile(path, reason + fault, not inside, is_live_link=not fault))


def _fault_of_link(path: str, target: str, *, inside: bool) -> str:
    """Say why nobody gets anywhere by the link at `path`, which leads to `target` as far as it can
    be followed; "" where one does.
    """
    if os.path.islink(target):
        return ", and round in a circle"
    if not os.path.lexists(target):
        return ", where nothing is"
    # whoever looks into all folders by it would never come to an end
    is_round = inside and f"{os.path.dirname(path)}/".startswith(f"{target}/")
    return ", the folder in which it lies, and round in a circle" if is_round else ""


class _Listing(_Walk):
    """Reads the indexes alone."""

    def _file(self, parent: int, name: str, path: str) -> None:
        if self.layout.role(path) is FileRole.INDEX:
            super()._file(parent, name, path)
        else:
            self.files.append(unreadable_note(path, _UNKNOWN, self.layout, ReadError.NOT_YET))


def _untouched(parent: int, name: str, old: Note) -> bool:
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except OSError:
        return False
    facts = old.facts
    return (
        facts.settled
        and status.st_ctime_ns == facts.changed_ns
        and status.st_size == facts.size
        and status.st_ino == facts.inode
        and stat.S_ISREG(status.st_mode)
    )
