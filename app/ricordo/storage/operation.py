"""What the history records: acts, what each did to which file, and the roots of the files.

An *act* is something that happened at one moment: a change set of ours, files that somebody else
changed, a decision of the person. An *op* is what an act did to one file: from one content to
another.
"""

from __future__ import annotations

from dataclasses import dataclass

from ricordo.memory.change import Author, AuthorRole

CHANGE = "change"
"""The kind of an act that changed files through our door."""
SEEN = "seen"
"""The kind of an act in which somebody else changed files."""
FIRST = "first"
"""The kind of the act that kept a memory as it was first seen."""


@dataclass(frozen=True, slots=True)
class Op:
    """What one act did to one file."""

    root: str
    """Id of the root."""
    path: str
    pre: str | None
    """SHA-256 of the content before; None where there was no file."""
    post: str | None
    session: str = ""
    """The session of an agent that wrote it, where that is known."""
    from_root: str = ""
    """Id of the root from which it was moved."""
    from_path: str = ""
    single: bool = False
    """Whether the root is open for this one name only."""
    outcome: str = ""
    """`conflict` where somebody else's content stayed, `kept` for content that only history has,
    `displaced` for one of these that could not be merged into the file, `moved` for a file that
    went to another path.
    """
    written: str = ""
    """When the file says that it was written, ISO 8601; "" where we wrote it."""
    mode: int | None = None
    """Permissions of the file before, or of the one from which it was moved; None: not known."""


@dataclass(frozen=True, slots=True)
class Act:
    """Something that happened at one moment."""

    n: int
    root: str
    at: str
    """ISO 8601, with time zone."""
    kind: str
    subject: str
    """What a decision is about; of a change what is decided with it (`subject_of_change`)."""
    author: Author
    reason: str
    state: str
    undoes: int | None
    token: str = ""
    """Stands in the names of the temporary files of this act; random, so that it names it too."""


@dataclass(frozen=True, slots=True)
class Root:
    """A directory whose files are in the history."""

    id: str
    path: str
    device: int
    inode: int


Place = tuple[str, str]
"""A file, by the id of its root and its path."""


def stored_path(path: str) -> str | bytes:
    """Return a path as the database can hold it: bytes where it is no UTF-8."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogateescape")
    return path


def path_of(stored: object) -> str:
    """Return a path that the database held."""
    return stored.decode("utf-8", "surrogateescape") if isinstance(stored, bytes) else str(stored)


def op_of(row: tuple[object, ...]) -> Op:
    """Return the op of a row, without the number of its act and its own."""
    root, path, pre, post, session, from_root, from_path, single, outcome, written, mode = row
    return Op(
        str(root),
        path_of(path),
        None if pre is None else str(pre),
        None if post is None else str(post),
        str(session),
        str(from_root),
        path_of(from_path),
        bool(single),
        str(outcome),
        str(written),
        mode if isinstance(mode, int) else None,
    )


def act_of(row: tuple[object, ...]) -> Act:
    """Return the act of a row."""
    n, root, at, kind, subject, role, name, model, prompt, reason, state, undoes, token = row
    assert isinstance(n, int)
    author = Author(AuthorRole(str(role)), str(name), str(model), str(prompt))
    undone = undoes if isinstance(undoes, int) else None
    return Act(
        n,
        str(root),
        str(at),
        str(kind),
        path_of(subject),
        author,
        str(reason),
        str(state),
        undone,
        str(token),
    )
