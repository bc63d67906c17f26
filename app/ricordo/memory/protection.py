"""Protected notes, which neither the curator nor a fix may change or retire."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ricordo.memory.change import Edit
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.text import make_visible

_TRUE = frozenset(("true", "yes", "on", "1"))


def is_protected(note: Note, protected: Collection[str]) -> bool:
    """Return whether `note` is protected: by its frontmatter (`pinned`, Letta's `read_only`), as a
    raw source, or because the user `marked` its path.
    """
    return (
        note.path in protected
        or note.role is FileRole.SOURCE
        or any(_is_true(note.frontmatter.get_text(key)) for key in ("pinned", "read_only"))
    )


def _is_true(value: str) -> bool:
    # in invalid frontmatter a comment is still part of the value
    return value.partition(" #")[0].strip().lower() in _TRUE


def find_hard_link_warnings(memory: Memory, edits: Iterable[Edit]) -> list[str]:
    """Return warnings about `edits` of files in `memory` that have other hard links."""
    warnings: list[str] = []
    for edit in edits:
        note = memory.by_path.get(edit.path)
        if note is None or note.facts.links < 2:
            continue
        linked = [
            make_visible(file.path)
            for file in memory.files
            if file is not note and file.facts.inode == note.facts.inode
        ]
        where = ", ".join(linked) if len(linked) == note.facts.links - 1 else "outside the memory"
        warnings.append(
            f"{make_visible(edit.path)} is hard-linked ({where}). The other name becomes a "
            "separate file with the old text."
        )
    return warnings
