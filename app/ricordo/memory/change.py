"""Changes: what somebody wishes to be other in a memory, each with its reason and its author.

A change names what it is about, not bytes: `compose` turns a list of them into the edits of files
that they come to, and refuses what does not fit. Paths are relative to the memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256


class AuthorRole(StrEnum):
    """Who may have wished a change."""

    PERSON = "you"
    RULE = "rule"
    CURATOR = "curator"
    OUTSIDE = "outside"
    """Somebody who wrote the files without us: an agent, an editor, a sync."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who wished a change."""

    role: AuthorRole
    name: str = ""
    """The rule, or the session of an agent; "" for the person."""
    model: str = ""
    prompt_version: str = ""

    @property
    def shown(self) -> str:
        """How the author is told in a list: `you`, `rule dead-link`, `session 4f2a…`."""
        if self.role is AuthorRole.OUTSIDE:
            return f"session {self.name}" if self.name else "another program"
        named = (self.role.value, self.name, self.model, self.prompt_version)
        return " ".join(part for part in named if part)


PERSON = Author(AuthorRole.PERSON)


@dataclass(frozen=True, slots=True)
class Create:
    """A new note, and its entry in the index that is nearest to it."""

    path: str
    text: str
    entry: str | None = None
    """The line of the index; None for one made from its head, "" for none."""


@dataclass(frozen=True, slots=True)
class Replace:
    """A text, which must stand exactly once in the file, becomes another."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Insert:
    """Lines are put after a line."""

    path: str
    after_line: int
    """1-based; 0 puts them before the first line."""
    text: str
    """Whole lines; a missing line end is added."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The whole text of a file, without byte order mark, becomes another."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Convert:
    """A file in another encoding says the same in UTF-8."""

    path: str


@dataclass(frozen=True, slots=True)
class SetField:
    """A field of the head, at its top, gets a value; a head is made where there is none."""

    path: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Rename:
    """A note gets another path and, where told, another name; links and entries follow."""

    path: str
    to: str
    name: str = ""
    """What the head calls it from now on; "" leaves the head alone."""
    root: str = ""
    """The memory that it moves to; "" for the same one."""


@dataclass(frozen=True, slots=True)
class Merge:
    """`other` is retired into the note at `path`, which gets a new text."""

    path: str
    other: str
    text: str


@dataclass(frozen=True, slots=True)
class SplitPart:
    """One note that comes out of a split."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Split:
    """A note keeps `text` and gives the rest to new notes, which get entries beside its own."""

    path: str
    text: str
    parts: tuple[SplitPart, ...]


@dataclass(frozen=True, slots=True)
class Retire:
    """A note and its entries leave the memory; links to it go to the successor or become text."""

    path: str
    successor: str = ""


@dataclass(frozen=True, slots=True)
class AddLink:
    """A note gets a link to another one, at its end."""

    path: str
    target: str


@dataclass(frozen=True, slots=True)
class EditLine:
    """A line of a file, known by its number and its text, becomes another or leaves."""

    path: str
    line: int
    old: str
    """The line as it stands, without its line end."""
    new: str | None
    """None takes the line out."""


@dataclass(frozen=True, slots=True)
class AddEntry:
    """A note gets an entry in an index."""

    path: str
    """The index."""
    note: str
    text: str = ""
    """The line; "" for one made from the note's head in the manner of the other entries."""
    after_line: int | None = None
    """1-based line; None puts it after the last entry."""


@dataclass(frozen=True, slots=True)
class MoveLine:
    """A line of a file moves to another place in it."""

    path: str
    line: int
    old: str
    """The line as it stands, without its line end."""
    after_line: int
    """1-based, in the file as it is before the move; 0 moves it to the top."""


@dataclass(frozen=True, slots=True)
class WriteFile:
    """A single file that the person asked for, outside any memory, is written whole."""

    root: str
    """Absolute path of its directory."""
    name: str
    """The only name in it that may be touched."""
    before: bytes | None
    """What it held when the change was made; None where it was not there."""
    text: str


Act = (
    Create
    | Replace
    | Insert
    | Rewrite
    | Convert
    | SetField
    | Rename
    | Merge
    | Split
    | Retire
    | AddLink
    | EditLine
    | AddEntry
    | MoveLine
    | WriteFile
)


@dataclass(frozen=True, slots=True)
class Change:
    """One act, why, and whose wish it is."""

    act: Act
    reason: str = ""
    author: Author = PERSON


@dataclass(frozen=True, slots=True)
class Edit:
    """What becomes of one file."""

    root: str
    """Absolute path of the directory from which `path` counts."""
    path: str
    before: bytes | None
    """What it must hold now; None where nothing may stand."""
    after: bytes | None
    """What it will hold; None where it goes."""
    moved_from: str = ""
    """The path, in the same root, from which the content comes."""
    moved_from_root: str = ""
    """The root, where it comes from another one."""
    is_single_file: bool = False
    """Whether `root` is open for this one name only."""

    @property
    def key(self) -> tuple[str, str]:
        """The file that it is about."""
        return self.root, self.path


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Changes and the edits that they come to; one edit a file."""

    edits: tuple[Edit, ...]
    changes: tuple[Change, ...] = ()
    remarks: tuple[str, ...] = ()
    """What the person should know before applying: a hard link, a link that could not follow."""
    dismisses: tuple[str, ...] = ()
    """The ids of findings that are fine from then on: decided, and taken back, with the rest."""
    accepts: tuple[str, ...] = ()
    """The ids of the proposals that it applies: pending again once it is undone."""
    confirms: tuple[str, ...] = ()
    """The SHA-256 of the texts of notes that the user keeps where a conflict is settled."""

    @property
    def author(self) -> Author | None:
        """Whose wish it is: the one author of all changes, or their role, as for several rules."""
        authors = {change.author for change in self.changes}
        roles = {author.role for author in authors}
        if len(roles) != 1:
            return None
        return authors.pop() if len(authors) == 1 else Author(roles.pop())

    @property
    def reason(self) -> str:
        """The reasons of its changes, each once, as one line."""
        return "; ".join(dict.fromkeys(change.reason for change in self.changes if change.reason))

    def __bool__(self) -> bool:
        """Whether anything would change."""
        return bool(self.edits)


def digest(content: bytes | None) -> str | None:
    """Return the SHA-256 of `content` in hexadecimal; None for a file that is not there."""
    return None if content is None else sha256(content).hexdigest()


def effective(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the `edits` without those that change nothing."""
    return tuple(edit for edit in edits if edit.before != edit.after)
