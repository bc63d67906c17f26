"""Requested changes of a memory, each with its reason and its author.

A change describes intent, not bytes: `compose` turns a list of changes into edits of files, and
refuses a change that does not fit. Paths are relative to the memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256


class AuthorRole(StrEnum):
    """Who may request a change."""

    USER = "you"
    RULE = "rule"
    CURATOR = "curator"
    OUTSIDE = "outside"
    """A program that wrote the files itself: an agent, an editor, a sync."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who requested a change."""

    role: AuthorRole
    name: str = ""
    """The rule, or the session of an agent; "" for the user."""
    model: str = ""
    prompt_version: str = ""

    @property
    def label(self) -> str:
        """The author as shown in a list: `you`, `rule dead-link`, `session 4f2a…`."""
        if self.role is AuthorRole.OUTSIDE:
            return f"session {self.name}" if self.name else "another program"
        parts = (self.role.value, self.name, self.model, self.prompt_version)
        return " ".join(part for part in parts if part)


USER = Author(AuthorRole.USER)


@dataclass(frozen=True, slots=True)
class Create:
    """Create a note, and its entry in the nearest index."""

    path: str
    text: str
    entry: str | None = None
    """The line of the index; None for one made from its frontmatter, "" for none."""


@dataclass(frozen=True, slots=True)
class Replace:
    """Replace a text that occurs exactly once in the file."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Insert:
    """Insert lines after a line."""

    path: str
    after_line: int
    """1-based; 0 inserts before the first line."""
    text: str
    """Whole lines; a missing line end is added."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Replace the whole text of a file, without byte order mark."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Convert:
    """Convert a file in another encoding to UTF-8."""

    path: str


@dataclass(frozen=True, slots=True)
class SetField:
    """Set a field of the frontmatter, which is created if missing: at the top level, with a key
    `metadata.KEY` inside `metadata`.
    """

    path: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Rename:
    """Move a note to another path, and optionally rename it; links and entries follow."""

    path: str
    to: str
    name: str = ""
    """The new name in the frontmatter; "" leaves the frontmatter unchanged."""
    root: str = ""
    """The memory to move it to; "" for the same one."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Retire the note `other` into the note at `path`, which gets a new text."""

    path: str
    other: str
    text: str


@dataclass(frozen=True, slots=True)
class Retire:
    """Remove a note and its entries; links to it go to the successor or become text."""

    path: str
    successor: str = ""


@dataclass(frozen=True, slots=True)
class AddLink:
    """Add a link to another note at the end of a note."""

    path: str
    target: str


@dataclass(frozen=True, slots=True)
class EditLine:
    """Replace or remove a line of a file, identified by its number and its text."""

    path: str
    line: int
    old: str
    """The current line, without its line end."""
    new: str | None
    """None removes the line."""


@dataclass(frozen=True, slots=True)
class AddEntry:
    """Add an entry for a note to an index."""

    path: str
    """The index."""
    note: str
    text: str = ""
    """The line; "" for one made from the note's frontmatter in the style of the other entries."""
    after_line: int | None = None
    """1-based line; None inserts it after the last entry."""


@dataclass(frozen=True, slots=True)
class MoveLine:
    """Move a line of a file to another place in it."""

    path: str
    line: int
    old: str
    """The current line, without its line end."""
    after_line: int
    """1-based, in the file before the move; 0 moves it to the top."""


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Write a single file outside any memory that the user asked for."""

    root: str
    """Absolute path of its directory."""
    name: str
    """The only name in it that may be written."""
    before: bytes | None
    """Its content when the change was requested; None if it did not exist."""
    text: str


ChangeOperation = (
    Create
    | Replace
    | Insert
    | Rewrite
    | Convert
    | SetField
    | Rename
    | Merge
    | Retire
    | AddLink
    | EditLine
    | AddEntry
    | MoveLine
    | WriteFile
)


@dataclass(frozen=True, slots=True)
class Change:
    """One operation, its reason, and who requested it."""

    operation: ChangeOperation
    reason: str = ""
    author: Author = USER


@dataclass(frozen=True, slots=True)
class Edit:
    """The content of one file before and after a change."""

    root: str
    """Absolute path of the directory to which `path` is relative."""
    path: str
    before: bytes | None
    """The content that it must have now; None if it must not exist."""
    after: bytes | None
    """The new content; None removes the file."""
    moved_from: str = ""
    """The path, in the same root, from which the content comes."""
    moved_from_root: str = ""
    """The root from which the content comes, if another one."""
    is_single_file: bool = False
    """Whether only this one name in `root` may be written."""

    @property
    def key(self) -> tuple[str, str]:
        """The root and the path of the file."""
        return self.root, self.path


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Changes and the resulting edits, one per file."""

    edits: tuple[Edit, ...]
    changes: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()
    """Warnings to show before applying: a hard link, a link that could not be updated."""
    dismisses: tuple[str, ...] = ()
    """The ids of the findings that it dismisses; undo restores them."""
    accepts: tuple[str, ...] = ()
    """The ids of the proposals that it applies; undo makes them pending again."""
    refuses: tuple[str, ...] = ()
    """The ids of the proposals that are refused with it; undo makes them pending again."""
    refuses_fixes: tuple[str, ...] = ()
    """The ids of the findings whose fixes are refused with these proposals."""
    confirms: tuple[str, ...] = ()
    """The SHA-256 of the texts of notes that the user keeps when resolving a conflict."""

    @property
    def author(self) -> Author | None:
        """The common author of all changes, or only their role; None where roles differ."""
        authors = {change.author for change in self.changes}
        roles = {author.role for author in authors}
        if len(roles) != 1:
            return None
        return authors.pop() if len(authors) == 1 else Author(roles.pop())

    @property
    def reason(self) -> str:
        """The distinct reasons of the changes, as one line."""
        return "; ".join(dict.fromkeys(change.reason for change in self.changes if change.reason))

    def __bool__(self) -> bool:
        """Return whether anything would change."""
        return bool(self.edits)


def compute_digest(content: bytes | None) -> str | None:
    """Return the SHA-256 of `content` in hexadecimal; None for a missing file."""
    return None if content is None else sha256(content).hexdigest()


def drop_empty_edits(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the `edits` without those that change nothing."""
    return tuple(edit for edit in edits if edit.before != edit.after)
