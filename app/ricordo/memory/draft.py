"""A draft: a memory with changes that are not on disk, of which each sees the ones before."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ricordo.errors import ChangeRefused
from ricordo.memory.change import PERSON, Author, AuthorRole, Edit
from ricordo.memory.lines import has_one_line_end
from ricordo.memory.memory import Memory
from ricordo.memory.new_note import check_new_path
from ricordo.memory.note import BOM, FileFacts, Note, ReadError, read_note, text_of_other_encoding
from ricordo.memory.protection import is_protected
from ricordo.text import one_line, visible

_NOT_YET = FileFacts(size=0, modified=0.0, inode=0, changed_ns=0)
_HELD_WHOLE = (
    ReadError.NONE,
    ReadError.NOT_UTF8,
    ReadError.UTF16,
    ReadError.UTF32,
    ReadError.BINARY,
)
"""Troubles of files whose bytes are all there."""


class MemoryDraft:
    """One memory while changes are put together. Every method that is given the path of a file
    raises ChangeRefused where that file may not be changed so.
    """

    def __init__(self, memory: Memory, marked: Collection[str] = ()) -> None:
        """`marked` are the paths that the person has protected."""
        self.before = memory
        self.author: Author = PERSON
        """Whose changes are being made."""
        self._marked = marked
        self._moved_from: dict[str, tuple[str, str]] = {}
        self._built = memory
        self._pending: dict[str, Note | None] = {}
        """Files that are other than in `_built`: a memory of 10,000 notes is not put together
        anew for every one that changes.
        """
        self._unread: dict[str, bytes] = {}
        """The bytes of files in `_pending` that were put since: a long index of which a hundred
        lines change is read once.
        """
        self._touched: set[str] = set()

    @property
    def now(self) -> Memory:
        """The memory as it would be."""
        for path in tuple(self._unread):
            self.find(path)
        if self._pending:
            self._built = self._built.with_files(self._pending)
            self._pending = {}
        return self._built

    def find(self, path: str) -> Note | None:
        """Return the file at `path` as it would be; None where there is none."""
        if path in self._unread:
            raw = self._unread.pop(path)
            facts = _sized(self._last_read(path).facts, raw)
            self._pending[path] = read_note(path, raw, facts, self.before.layout)
        return self._last_known(path)

    def file(self, path: str) -> Note:
        """Return the file at `path` as it would be."""
        self.find(path)
        return self._last_read(path)

    def text(self, path: str) -> str:
        """Return the text of a file whose text may be changed, without byte order mark."""
        file = self._changeable(path)
        if not file.readable:
            raise ChangeRefused(f"{visible(path)} is left alone: {file.trouble.value}.")
        if one_line(path) != path:
            raise ChangeRefused(f"{one_line(path)} is left alone: rename it first.")
        put = self._unread.get(path)
        return put.removeprefix(BOM).decode("utf-8") if put is not None else file.text

    def text_by_lines(self, path: str) -> str:
        """Return the text of a file of which single lines may be changed."""
        text = self.text(path)
        if not has_one_line_end(text):
            raise ChangeRefused(
                f"{visible(path)} mixes line ends, so only the whole of it can be edited (e)."
            )
        if "\0" in text:
            raise ChangeRefused(
                f"{visible(path)} holds NUL characters, so only the whole of it can be edited (e)."
            )
        return text

    def put(self, path: str, text: str) -> None:
        """Give a file that is there another text; byte order mark and all else stay."""
        raw = (BOM if self._last_read(path).raw.startswith(BOM) else b"") + encoded(text)
        self._unread[path] = raw
        self._touched.add(path)

    def convert(self, path: str) -> None:
        """Let a file in another encoding say the same in UTF-8."""
        text = text_of_other_encoding(self._changeable(path))
        if text is None:
            raise ChangeRefused(f"{visible(path)} is left alone: its encoding is not certain.")
        self.put(path, text)

    def create(self, path: str, raw: bytes) -> None:
        """Put a new file at `path`."""
        self._refuse_if_read_only()
        others = self.before.others
        taken = [*self.now.by_path, *others, *(it.path for it in self.before.skipped)]
        check_new_path(path, taken, others)
        self._set(path, read_note(path, raw, _sized(_NOT_YET, raw), self.before.layout))

    def remove(self, path: str) -> None:
        """Take the file at `path` away."""
        file = self._changeable(path)
        is_by_person = self.author.role is AuthorRole.PERSON
        if file.trouble not in _HELD_WHOLE or not (file.readable or is_by_person):
            raise ChangeRefused(f"{visible(path)} is left alone: {file.trouble.value}.")
        self._moved_from.pop(path, None)
        self._set(path, None)

    def came_from(self, path: str, root: str, origin: str) -> None:
        """Keep that the file at `path` was moved there from `origin` in the memory `root`."""
        self._moved_from[path] = (root, origin)

    def origin_of(self, path: str) -> tuple[str, str]:
        """Return memory and path where the file at `path` stood before the changes."""
        return self._moved_from.get(path, (self.before.root, path))

    def edits(self) -> tuple[Edit, ...]:
        """Return what the changes come to, ordered by path."""
        found: list[Edit] = []
        for path in sorted(self._touched):
            before, after = self.before.by_path.get(path), self.find(path)
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
                found.append(edit)
        return tuple(found)

    def _changeable(self, path: str) -> Note:
        """Return the file at `path`, which the author may change or take away."""
        file = self._last_read(path)
        self._refuse_if_read_only()
        if self.author.role is not AuthorRole.PERSON:
            root, origin = self.origin_of(path)
            known = self.before.by_path.get(origin) if root == self.before.root else None
            if known is not None and is_protected(known, self._marked):
                raise ChangeRefused(f"{visible(path)} is protected.")
        if not file.facts.writable:
            raise ChangeRefused(f"{visible(path)} is left alone: the file is read-only.")
        return file

    def _refuse_if_read_only(self) -> None:
        if self.before.layout.read_only:
            raise ChangeRefused(self.before.layout.read_only)

    def _last_known(self, path: str) -> Note | None:
        return self._pending[path] if path in self._pending else self._built.by_path.get(path)

    def _last_read(self, path: str) -> Note:
        """Return a file as it was when it was read last: what it is, not what it says."""
        file = self._last_known(path)
        if file is None:
            raise ChangeRefused(f"There is no {visible(path)} in this memory.")
        return file

    def _set(self, path: str, file: Note | None) -> None:
        self._unread.pop(path, None)
        self._pending[path] = file
        self._touched.add(path)


def encoded(text: str) -> bytes:
    """Return `text` as UTF-8. Raises ChangeRefused where it holds a lone surrogate."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ChangeRefused("The new text holds characters that UTF-8 cannot hold.") from None


def _sized(facts: FileFacts, raw: bytes) -> FileFacts:
    return FileFacts(
        len(raw), facts.modified, facts.inode, facts.changed_ns, facts.links, facts.writable
    )


def with_edits(memory: Memory, edits: Iterable[Edit]) -> Memory:
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
