"""Protected notes: neither the curator nor a fix may change or retire them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ricordo.memory.change import Edit
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.text import visible

_TRUE = frozenset(("true", "yes", "on", "1"))


def is_protected(note: Note, marked: Collection[str]) -> bool:
    """Say whether `note` is protected: by its head (`pinned`, Letta's `read_only`), as a raw
    source, or because the person `marked` its path.
    """
    return (
        note.path in marked
        or note.role is FileRole.SOURCE
        or any(_says_yes(note.head.scalar(key)) for key in ("pinned", "read_only"))
    )


def _says_yes(written: str) -> bool:
    # in a head with a fault a comment is still part of the value
    return written.partition(" #")[0].strip().lower() in _TRUE


def hard_link_remarks(memory: Memory, edits: Iterable[Edit]) -> list[str]:
    """Return what the person should know of `edits` of files in `memory` that are hard links."""
    remarks: list[str] = []
    for edit in edits:
        note = memory.by_path.get(edit.path)
        if note is None or note.facts.links < 2:
            continue
        twins = [
            visible(file.path)
            for file in memory.files
            if file is not note and file.facts.inode == note.facts.inode
        ]
        where = ", ".join(twins) if len(twins) == note.facts.links - 1 else "outside"
        remarks.append(
            f"{visible(edit.path)} has another name (a hard link): {where}. That one keeps the old "
            "text and is a file of its own from then on."
        )
    return remarks
