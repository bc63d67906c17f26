"""Giving a note another name: which path and which name the words of a person mean."""

from __future__ import annotations

from ricordo.memory.change import Rename
from ricordo.memory.memory import Memory
from ricordo.memory.new_path import is_plain_name, path_for
from ricordo.memory.note import Note, stem


def rename_to(memory: Memory, note: Note, wanted: str) -> Rename:
    """Return the act that calls `note` `wanted`: a path, a file name, or a name.

    The name in the head follows: it becomes `wanted`, or the new stem where the old name was the
    old stem; a title stays when only the file is meant.
    """
    folder = note.path.rpartition("/")[0]
    prefix = f"{folder}/" if folder else ""
    if wanted.endswith(".md"):
        to = wanted if "/" in wanted else prefix + wanted
        name = stem(to) if note.name == note.stem and to != note.path else ""
        return Rename(note.path, to, name)
    if is_plain_name(f"{wanted}.md"):
        return Rename(note.path, f"{prefix}{wanted}.md", wanted)
    others = [path for path in (*memory.by_path, *memory.others) if path != note.path]
    return Rename(note.path, path_for(wanted, others, memory.layout, folder), wanted)
