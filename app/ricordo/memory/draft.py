"""A memory with changes that are not on disk; each change sees the ones before it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ricordo.errors import ChangeRefused
from ricordo.memory.change import USER, Author, AuthorRole, Edit
from ricordo.memory.lines import has_one_line_end
from ricordo.memory.memory import Memory
from ricordo.memory.new_note import check_new_path
from ricordo.memory.note import (
    BOM,
    FileFacts,
    Note,
    ReadError,
    decode_other_encoding,
    is_protected,
    read_note,
)
from ricordo.text import make_one_line, make_visible

_NEW_FILE = FileFacts(size=0, modified=0.0, inode=0, changed_ns=0)
_READ_WHOLE = (
    ReadError.NONE,
    ReadError.NOT_UTF8,
    ReadError.CUT_OFF,
    ReadError.UTF16,
    ReadError.UTF32,
    ReadError.BINARY,
)
"""Read errors of files whose bytes are all known."""


class MemoryDraft:
    """One memory while changes are composed. Every method that takes the path of a file raises
    ChangeRefused if that change of the file is not allowed.
    """

    def __init__(self, memory: Memory, marked: Collection[str] = ()) -> None:
        """Start from `memory`; `marked` are the paths that the user protected."""
        self.before = memory
        self.author: Author = USER
        """The author of the changes that are applied next."""
        self._marked = marked
        self._moved_from: dict[str, tuple[str, str]] = {}
        self._built = memory
        self._pending: dict[str, Note | None] = {}
        """Files that differ from `_built`, so that a memory of 10,000 notes is not rebuilt for
        every changed note.
        """
        self._unread: dict[str, bytes] = {}
        """Bytes of changed files that are not parsed yet, so that a long index is parsed once
        for a hundred changed lines.
        """
        self._touched: set[str] = set()

    @property
    def memory(self) -> Memory:
        """The memory as it would be."""
        for path in tuple(self._unread):
            self.find_file(path)
        if self._pending:
            self._built = self._built.with_files(self._pending)
            self._pending = {}
        return self._built

    def find_file(self, path: str) -> Note | None:
        """Return the file at `path` as it would be; None if it does not exist."""
        if path in self._unread:
            raw = self._unread.pop(path)
            facts = _sized(self._last_read(path).facts, raw)
            self._pending[path] = read_note(path, raw, facts, self.before.layout)
        return self._last_known(path)

    def get_file(self, path: str) -> Note:
        """Return the file at `path` as it would be."""
        self.find_file(path)
        return self._last_read(path)

    def get_text(self, path: str) -> str:
        """Return the text of a file that may be changed, without byte order mark."""
        file = self._changeable(path)
        if not file.is_readable:
            raise ChangeRefused(f"{make_visible(path)} cannot be changed: {file.read_error.value}.")
        if make_one_line(path) != path:
            raise ChangeRefused(
                f"{make_one_line(path)} cannot be changed: its name has control characters. "
                "Rename it first."
            )
        raw = self._unread.get(path)
        return raw.removeprefix(BOM).decode("utf-8") if raw is not None else file.text

    def get_editable_lines(self, path: str) -> str:
        """Return the text of a file whose single lines may be changed."""
        text = self.get_text(path)
        if not has_one_line_end(text):
            raise ChangeRefused(
                f"{make_visible(path)} has mixed line endings: edit the whole file (e)."
            )
        if "\0" in text:
            raise ChangeRefused(
                f"{make_visible(path)} contains NUL characters: edit the whole file (e)."
            )
        return text

    def set_text(self, path: str, text: str) -> None:
        """Replace the text of an existing file; its byte order mark stays."""
        raw = (BOM if self._last_read(path).raw.startswith(BOM) else b"") + encode_text(text)
        self._unread[path] = raw
        self._touched.add(path)

    def convert(self, path: str) -> None:
        """Convert a file in another encoding to UTF-8."""
        text = decode_other_encoding(self._changeable(path))
        if text is None:
            raise ChangeRefused(f"{make_visible(path)} cannot be changed: unknown encoding.")
        self.set_text(path, text)

    def create(self, path: str, raw: bytes) -> None:
        """Create a file at `path`."""
        self._refuse_if_read_only()
        others = self.before.others
        taken = [*self.memory.by_path, *others, *(file.path for file in self.before.skipped)]
        check_new_path(path, taken, others)
        self._set(path, read_note(path, raw, _sized(_NEW_FILE, raw), self.before.layout))

    def remove(self, path: str) -> None:
        """Remove the file at `path`."""
        file = self._changeable(path)
        is_by_user = self.author.role is AuthorRole.USER
        if file.read_error not in _READ_WHOLE or not (file.is_readable or is_by_user):
            raise ChangeRefused(f"{make_visible(path)} cannot be removed: {file.read_error.value}.")
        self._moved_from.pop(path, None)
        self._set(path, None)

    def record_origin(self, path: str, root: str, origin: str) -> None:
        """Record that the file at `path` was moved there from `origin` in the memory `root`."""
        self._moved_from[path] = (root, origin)

    def find_origin(self, path: str) -> tuple[str, str]:
        """Return memory and path of the file at `path` before the changes."""
        return self._moved_from.get(path, (self.before.root, path))

    def edits(self) -> tuple[Edit, ...]:
        """Return the edits of all changes, ordered by path."""
        edits: list[Edit] = []
        for path in sorted(self._touched):
            before, after = self.before.by_path.get(path), self.find_file(path)
            root, origin = self._moved_from.get(path, ("", ""))
            edit = Edit(
                self.before.root,
                path,
                before.raw if before else None,
                after.raw if after else None,
                moved_from=origin,
                moved_from_root=root if root != self.before.root else "",
            )
            if edit.before != edit.after:
                edits.append(edit)
        return tuple(edits)

    def _changeable(self, path: str) -> Note:
        """Return the file at `path`, which the author may change or remove."""
        file = self._last_read(path)
        self._refuse_if_read_only()
        if self.author.role is not AuthorRole.USER:
            root, origin = self.find_origin(path)
            original = self.before.by_path.get(origin) if root == self.before.root else None
            if original is not None and is_protected(original, self._marked):
                raise ChangeRefused(f"{make_visible(path)} is protected.")
        if not file.facts.is_writable:
            raise ChangeRefused(f"{make_visible(path)} cannot be changed: the file is read-only.")
        return file

    def _refuse_if_read_only(self) -> None:
        if self.before.layout.read_only:
            raise ChangeRefused(self.before.layout.read_only)

    def _last_known(self, path: str) -> Note | None:
        return self._pending[path] if path in self._pending else self._built.by_path.get(path)

    def _last_read(self, path: str) -> Note:
        """Return a file as it was last parsed; its text may be outdated, its kind is not."""
        file = self._last_known(path)
        if file is None:
            raise ChangeRefused(f"No file {make_visible(path)} in this memory.")
        return file

    def _set(self, path: str, file: Note | None) -> None:
        self._unread.pop(path, None)
        self._pending[path] = file
        self._touched.add(path)


def encode_text(text: str) -> bytes:
    """Return `text` as UTF-8. Raises ChangeRefused if it contains a lone surrogate."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ChangeRefused("The new text has characters that UTF-8 cannot encode.") from None


def _sized(facts: FileFacts, raw: bytes) -> FileFacts:
    return FileFacts(
        len(raw), facts.modified, facts.inode, facts.changed_ns, facts.links, facts.is_writable
    )


def apply_edits(memory: Memory, edits: Iterable[Edit]) -> Memory:
    """Return `memory` as it would be after `edits`."""
    changed: dict[str, Note | None] = {}
    for edit in edits:
        if edit.after is None:
            changed[edit.path] = None
            continue
        old = memory.by_path.get(edit.path)
        facts = old.facts if old else FileFacts(0, 0.0, 0, 0)
        sized = facts._replace(size=len(edit.after))
        changed[edit.path] = read_note(edit.path, edit.after, sized, memory.layout)
    return memory.with_files(changed)
