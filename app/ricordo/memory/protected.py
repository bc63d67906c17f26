"""Protected notes: neither the curator nor a fix may change or retire them."""

from __future__ import annotations

from collections.abc import Collection

from ricordo.memory.layout import Role
from ricordo.memory.note import Note

_TRUE = frozenset(("true", "yes", "on", "1"))


def is_protected(note: Note, marked: Collection[str]) -> bool:
    """Say whether `note` is protected: by its head (`pinned`, Letta's `read_only`), as a raw
    source, or because the person `marked` its path.
    """
    return (
        note.path in marked
        or note.role is Role.SOURCE
        or any(_says_yes(note.head.scalar(key)) for key in ("pinned", "read_only"))
    )


def _says_yes(written: str) -> bool:
    # in a head with a fault a comment is still part of the value
    return written.partition(" #")[0].strip().lower() in _TRUE
