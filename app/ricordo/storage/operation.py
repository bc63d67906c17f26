"""The records of the history: acts, their operations on files, and the roots of the files.

An *act* is one event: a change set written by Ricordo, changes by another program, a decision of
the user. An *operation* is the effect of an act on one file: from one content to another.
"""

from __future__ import annotations

from dataclasses import dataclass

from ricordo.memory.change import Author, AuthorRole

CHANGE = "change"
"""The kind of an act that changed files through the writer."""
SEEN = "seen"
"""The kind of an act in which another program changed files."""
FIRST = "first"
"""The kind of the act that recorded a memory for the first time."""


@dataclass(frozen=True, slots=True)
class FileOperation:
    """The effect of one act on one file."""

    root: str
    """Id of the root."""
    path: str
    pre: str | None
    """SHA-256 of the content before; None if there was no file."""
    post: str | None
    session: str = ""
    """The agent's session that wrote it; "" if unknown."""
    from_root: str = ""
    """Id of the root from which it was moved."""
    from_path: str = ""
    single: bool = False
    """Whether only this one name in the root may be written."""
    outcome: str = ""
    """`conflict` if another program's content stayed, `kept` for content that is only in the
    history, `displaced` for such content that could not be merged into the file, `moved` for a
    file that was moved.
    """
    written: str = ""
    """The file's modification time, ISO 8601; "" if Ricordo wrote it."""
    mode: int | None = None
    """Permissions of the file before, or of the one from which it was moved; None if unknown."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One event in the history."""

    n: int
    root: str
    at: str
    """ISO 8601, with time zone."""
    kind: str
    subject: str
    """The subject of a decision; for a change, the decisions made with it."""
    author: Author
    reason: str
    state: str
    undoes: int | None
    token: str = ""
    """A random id, also part of the names of the act's temporary files."""


@dataclass(frozen=True, slots=True)
class Root:
    """A directory whose files are in the history."""

    id: str
    path: str
    device: int
    inode: int


Place = tuple[str, str]
"""A file, by the id of its root and its path."""


def encode_path(path: str) -> str | bytes:
    """Return a path in the form that the database stores: bytes if it is not UTF-8."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogateescape")
    return path


def decode_path(stored: object) -> str:
    """Return the path that is stored as `stored`."""
    return stored.decode("utf-8", "surrogateescape") if isinstance(stored, bytes) else str(stored)


def operation_from_row(row: tuple[object, ...]) -> FileOperation:
    """Return the operation in a row, which comes without the two numbers."""
    root, path, pre, post, session, from_root, from_path, single, outcome, written, mode = row
    return FileOperation(
        str(root),
        decode_path(path),
        None if pre is None else str(pre),
        None if post is None else str(post),
        str(session),
        str(from_root),
        decode_path(from_path),
        bool(single),
        str(outcome),
        str(written),
        mode if isinstance(mode, int) else None,
    )


def entry_from_row(row: tuple[object, ...]) -> HistoryEntry:
    """Return the act in a row."""
    n, root, at, kind, subject, role, name, model, prompt, reason, state, undoes, token = row
    assert isinstance(n, int)
    author = Author(AuthorRole(str(role)), str(name), str(model), str(prompt))
    undone = undoes if isinstance(undoes, int) else None
    return HistoryEntry(
        n,
        str(root),
        str(at),
        str(kind),
        decode_path(subject),
        author,
        str(reason),
        str(state),
        undone,
        str(token),
    )
