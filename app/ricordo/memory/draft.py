"""A draft: a memory with changes that are not on disk, of which each sees the ones before."""

from __future__ import annotations

from collections.abc import Collection

from ricordo.errors import ChangeRefused
from ricordo.memory.change import Author, Role
from ricordo.memory.change_set import Edit
from ricordo.memory.lines import has_one_line_end
from ricordo.memory.memory import Memory
from ricordo.memory.new_path import check_new_path
from ricordo.memory.note import BOM, FileFacts, Note, read_note
from ricordo.memory.protected import is_protected
from ricordo.text import visible

_NOT_YET = FileFacts(size=0, modified=0.0, inode=0, changed_ns=0)


class Draft:
    """One memory while changes are put together. Every method that is given the path of a file
    raises ChangeRefused where that file may not be changed so.
    """

    def __init__(self, memory: Memory, marked: Collection[str] = ()) -> None:
        """`marked` are the paths that the person has protected."""
        self.before = memory
        self.now = memory
        """The memory as it would be."""
        self._marked = marked
        self._moved_from: dict[str, tuple[str, str]] = {}

    def file(self, path: str) -> Note:
        """Return the file at `path` as it would be."""
        file = self.now.by_path.get(path)
        if file is None:
            raise ChangeRefused(f"There is no {visible(path)} in this memory.")
        return file

    def text(self, path: str) -> str:
        """Return the text of a file whose text may be changed, without byte order mark."""
        file = self.file(path)
        if self.before.layout.read_only:
            raise ChangeRefused(self.before.layout.read_only)
        if not file.readable:
            raise ChangeRefused(f"{visible(path)} is left alone: {file.trouble.value}.")
        if not file.facts.writable:
            raise ChangeRefused(f"{visible(path)} is left alone: the file is read-only.")
        if not path.isprintable():
            raise ChangeRefused(f"{visible(path)} is left alone: rename it first.")
        return file.text

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
        file = self.file(path)
        raw = (BOM if file.raw.startswith(BOM) else b"") + encoded(text)
        self._set(path, read_note(path, raw, _sized(file.facts, raw), self.before.layout))

    def create(self, path: str, raw: bytes) -> None:
        """Put a new file at `path`."""
        if self.before.layout.read_only:
            raise ChangeRefused(self.before.layout.read_only)
        check_new_path(path, [*self.now.by_path, *self.now.others], self.now.others)
        self._set(path, read_note(path, raw, _sized(_NOT_YET, raw), self.before.layout))

    def remove(self, path: str) -> None:
        """Take the file at `path` away."""
        self.file(path)
        if self.before.layout.read_only:
            raise ChangeRefused(self.before.layout.read_only)
        self._set(path, None)

    def came_from(self, path: str, root: str, origin: str) -> None:
        """Keep that the file at `path` was moved there from `origin` in the memory `root`."""
        self._moved_from[path] = (root, origin)

    def origin_of(self, path: str) -> tuple[str, str]:
        """Return memory and path where the file at `path` stood before the changes."""
        return self._moved_from.get(path, (self.before.root, path))

    def allow(self, path: str, author: Author) -> None:
        """Refuse a file that is protected from `author`."""
        file = self.before.by_path.get(path)
        if file is None or author.role is Role.PERSON:
            return
        if is_protected(file, self._marked):
            raise ChangeRefused(f"{visible(path)} is protected.")

    def edits(self) -> tuple[Edit, ...]:
        """Return what the changes come to, ordered by path."""
        old, new = self.before.by_path, self.now.by_path
        changed = (path for path in old.keys() | new.keys() if old.get(path) is not new.get(path))
        found: list[Edit] = []
        for path in sorted(changed):
            before, after = old.get(path), new.get(path)
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

    def _set(self, path: str, file: Note | None) -> None:
        self.now = self.now.with_files({path: file})


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
