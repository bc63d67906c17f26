"""A memory as it would be after edits that were not made."""

from __future__ import annotations

from collections.abc import Iterable

from ricordo.memory.change_set import Edit
from ricordo.memory.memory import Memory
from ricordo.memory.note import FileFacts, Note, read_note


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
