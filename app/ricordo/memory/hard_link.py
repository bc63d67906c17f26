"""Files that have a second name: a file that is written anew leaves the other name behind."""

from __future__ import annotations

from collections.abc import Iterable

from ricordo.memory.change_set import Edit
from ricordo.memory.memory import Memory
from ricordo.text import visible


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
