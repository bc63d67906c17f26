"""A change set: the changes that are reviewed, applied, recorded and undone together, and what
they come to in bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from ricordo.memory.change import Author, Change


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
