"""Read a memory from disk, whole or only the files that changed since the last reading.

Every directory is opened relative to its parent and every file relative to its directory, never
through a symbolic link and never blocking, so that no file outside the memory is read and no pipe
or device blocks.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ricordo.background import pause_gc
from ricordo.errors import MemoryNotFound, MemoryUnreadable
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory, SkippedFile
from ricordo.memory.note import (
    MAX_NOTE_BYTES,
    PREVIEW_BYTES,
    FileFacts,
    Note,
    ReadError,
    create_unreadable_note,
    get_max_bytes,
    read_note,
)
from ricordo.patterns import compile_lazily
from ricordo.text import make_visible

MAX_FILES = 250_000
"""Directory entries; more are reported as not read."""
MAX_DEPTH = 32
SETTLING_NS = 100_000_000
"""A file that changed less than this ago is read again next time: timestamps come from a clock that
ticks every few milliseconds, and a second change in the same tick does not show.
"""
_MANY = 500
"""Changed files; above it walking the whole memory is faster."""

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_DIRECTORY = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_IGNORED_FOLDERS = frozenset(("node_modules", "__pycache__"))
_BACKUP = compile_lazily(r"\.md\.(?:bak|backup|old|orig)(?![a-z])", re.IGNORECASE)
"""What is in the name of a backup behind that of its note; it may end in `.md` again."""
_ENVIRONMENT = "pyvenv.cfg"
"""Marks a folder as a virtual environment of Python (PEP 405): nothing in it is a note."""
_UNKNOWN = FileFacts(size=0, modified=0.0, inode=0, changed_ns=0, is_settled=False)
_NOT_PLAIN = frozenset((errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.ENOTDIR))


def read_memory(root: str, layout: Layout, before: Memory | None = None) -> Memory:
    """Return the memory in the directory `root`.

    With `before`, an earlier reading of the same directory, notes with unchanged files are taken
    from it. Raises MemoryNotFound if `root` is not a directory and MemoryUnreadable if it cannot
    be listed.
    """
    real = os.path.realpath(root)
    by_path = before.by_path if before and before.root == real and before.layout == layout else {}
    return _read_by(_Walk(real, layout, by_path), root)


def list_memory(root: str, layout: Layout) -> Memory:
    """Return the memory in the directory `root` with its indexes read, and all other files listed
    but unread. Raises the same errors as `read_memory`.
    """
    return _read_by(_Listing(os.path.realpath(root), layout, {}), root)


def _read_by(walk: _Walk, root: str) -> Memory:
    try:
        handle = os.open(walk.root, _DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        raise MemoryNotFound(f"No memory directory at {make_visible(root)}.") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise MemoryUnreadable(f"{make_visible(root)} cannot be read: {reason}.") from None
    with pause_gc():
        try:
            if walk.layout.has_notes:
                walk.directory(handle, "", 0)
        finally:
            os.close(handle)
        walk.files.sort(key=lambda note: note.path)
        others, skipped = frozenset(walk.others), tuple(walk.skipped)
        hidden = frozenset(walk.hidden)
        return Memory(walk.root, walk.layout, tuple(walk.files), others, skipped, hidden)


def reread_files(before: Memory, paths: Iterable[str]) -> Memory:
    """Return `before` with the files at `paths`, relative to it, read again.

    If any other path than a markdown file in a known folder changed, all is read again. Raises
    MemoryNotFound and MemoryUnreadable.
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
    changed: dict[str, Note | None] = {note.path: note for note in walk.files}
    removed: dict[str, Note | None] = dict.fromkeys(wanted & before.by_path.keys())
    return before.with_files({**removed, **changed})


def _in_known_folder(memory: Memory, path: str) -> bool:
    folder, _, name = path.rpartition("/")
    is_known = not folder or folder in memory.others
    return is_known and is_note_name(name) and path not in memory.others


def is_note_name(name: str) -> bool:
    """Return whether a file of this name is read: markdown, neither hidden nor a backup."""
    return name[-3:].lower() == ".md" and not is_leftover(name)


def is_leftover(name: str) -> bool:
    """Return whether a name is hidden or a backup, of an editor or with the whole name of its note
    in front. A name with a Windows path, from an archive unpacked on another system, begins with a
    dot and is not hidden.
    """
    is_hidden = name[0] == "." and not name.startswith((".\\", "..\\"))
    is_of_editor = name[-1] == "~" or (name[0] == "#" and name[-1] == "#")
    return is_hidden or is_of_editor or bool(_BACKUP.search(name))


def list_names(root: str) -> frozenset[str]:
    """Return the names in the directory `root`, folders with a trailing `/`; empty if it cannot be
    listed.
    """
    try:
        with os.scandir(root) as entries:
            return frozenset(e.name + ("/" if e.is_dir() else "") for e in entries)
    except OSError:
        return frozenset()


def list_folders(root: str) -> frozenset[str]:
    """Return `root` and the folders below it that may contain notes, none of them through a
    link.
    """
    folders: set[str] = set()
    for folder, subfolders, _ in os.walk(root):
        folders.add(folder)
        is_deep = folder.count(os.sep) - root.count(os.sep) >= MAX_DEPTH
        is_end = is_deep or len(folders) >= MAX_FILES
        subfolders[:] = [] if is_end else filter(_is_walked, subfolders)
    return frozenset(folders)


def _is_walked(folder: str) -> bool:
    return not is_leftover(folder) and folder not in _IGNORED_FOLDERS


@dataclass
class _Walk:
    root: str
    layout: Layout
    before: Mapping[str, Note]
    """The notes of an earlier reading, by path."""
    files: list[Note] = field(default_factory=list)
    others: set[str] = field(default_factory=set)
    skipped: list[SkippedFile] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set)
    count: int = 0
    """Directory entries so far."""
    settled_before: int = field(default_factory=lambda: time.time_ns() - SETTLING_NS)
    """Files that changed after this moment are read again next time."""

    def directory(self, handle: int, prefix: str, depth: int) -> None:
        folders: list[str] = []
        with os.scandir(handle) as entries:
            for entry in entries:
                name = entry.name
                if self.count >= MAX_FILES:
                    self.skipped.append(SkippedFile(prefix or ".", f"over {MAX_FILES:,} files"))
                    break
                self.count += 1
                if is_leftover(name):
                    self.hidden.add(prefix + name)
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
                    self.skipped.append(SkippedFile(prefix + name, ReadError.NOT_REGULAR.value))
        for name in sorted(folders):
            self._folder(handle, name, prefix + name, depth + 1)

    def single(self, root: int, path: str) -> None:
        """Read the one file at `path`, opening every folder relative to its parent."""
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
            if not _has_file(handle, _ENVIRONMENT):
                self.directory(handle, path + "/", depth)
        except OSError as error:
            self.skipped.append(SkippedFile(path, error.strerror or "cannot be listed"))
        finally:
            os.close(handle)

    def _file(self, parent: int, name: str, path: str) -> None:
        old = self.before.get(path)
        if old is not None and _is_unchanged(parent, name, old):
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
                self.skipped.append(SkippedFile(path, ReadError.NOT_REGULAR.value))
                return
            raw = self._read(handle, path, status.st_size)
        except OSError as error:
            self._unopened(parent, name, path, error)
            return
        finally:
            os.close(handle)
        facts = self._facts(status)
        if old is not None and old.is_readable and old.raw == raw and old.facts.size == facts.size:
            self.files.append(old if old.facts == facts else replace(old, facts=facts))
        else:
            self.files.append(read_note(path, raw, facts, self.layout))

    def _read(self, handle: int, path: str, size: int) -> bytes:
        if size > MAX_NOTE_BYTES and size > get_max_bytes(self.layout.get_role(path)):
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
            self.skipped.append(SkippedFile(path, ReadError.NOT_REGULAR.value))
            return
        try:
            facts = self._facts(os.stat(name, dir_fd=parent, follow_symlinks=False))
        except OSError:
            return
        is_denied = error.errno in (errno.EACCES, errno.EPERM)
        reason = ReadError.NO_PERMISSION if is_denied else ReadError.DISK_ERROR
        self.files.append(create_unreadable_note(path, facts, self.layout, reason))

    def _symbolic_link(self, parent: int, path: str) -> None:
        target = os.path.realpath(os.path.join(self.root, path))
        try:
            shown = os.readlink(os.path.basename(path), dir_fd=parent)
        except OSError:
            shown = "?"
        inside = target == self.root or target.startswith(self.root + os.sep)
        reason = f"a symbolic link to {make_visible(shown)}"
        fault = _find_link_fault(os.path.join(self.root, path), target, inside=inside)
        self.skipped.append(SkippedFile(path, reason + fault, not inside, not fault, target))


def _has_file(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _find_link_fault(path: str, target: str, *, inside: bool) -> str:
    """Return why the link at `path`, resolved as far as possible to `target`, is broken or
    circular; "" if it is not.
    """
    if os.path.islink(target):
        return ", which is circular"
    if not os.path.lexists(target):
        return ", which does not exist"
    # following it in a recursive listing would never end
    is_circular = inside and f"{os.path.dirname(path)}/".startswith(f"{target}/")
    return ", a folder that contains it: circular" if is_circular else ""


class _Listing(_Walk):
    """Reads only the indexes."""

    def _file(self, parent: int, name: str, path: str) -> None:
        if self.layout.get_role(path) is FileRole.INDEX:
            super()._file(parent, name, path)
        else:
            self.files.append(
                create_unreadable_note(path, _UNKNOWN, self.layout, ReadError.PENDING)
            )


def _is_unchanged(parent: int, name: str, old: Note) -> bool:
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except OSError:
        return False
    facts = old.facts
    return (
        facts.is_settled
        and status.st_ctime_ns == facts.changed_ns
        and status.st_size == facts.size
        and status.st_ino == facts.inode
        and stat.S_ISREG(status.st_mode)
    )
