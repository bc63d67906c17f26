"""Giving a note another name: which path and which name the words of a person mean."""

from __future__ import annotations

from ricordo.errors import WrongUsage
from ricordo.memory.change import Rename
from ricordo.memory.memory import Memory
from ricordo.memory.new_path import is_plain_name, path_for
from ricordo.memory.note import Note, stem
from ricordo.notebook.pick import refuse_outside, refuse_taken


def rename_to(memory: Memory, note: Note, wanted: str, other: Memory | None = None) -> Rename:
    """Return the act that calls `note` `wanted`: a path in the memory, a file name, or a name.

    The name in the head follows: it becomes the last part of `wanted`, or the new stem where the
    old name was the old stem; a title stays when only the file is meant. `other` is the memory to
    which it goes, if to another one. Raises WrongUsage where
    `wanted` names nothing in the memory, and ChangeRefused where it names another note.
    """
    folder, _, called = wanted.removeprefix("./").rpartition("/")
    if not called.strip():
        raise WrongUsage("A note needs a name.")
    refuse_outside(wanted)
    if "/" not in wanted:
        folder = note.path.rpartition("/")[0]
    prefix = f"{folder}/" if folder else ""
    if called.endswith(".md"):
        to = prefix + called
        name = stem(to) if note.name == note.stem and to != note.path else ""
        return Rename(note.path, to, name)
    if "/" not in wanted:
        refuse_taken(other or memory, called, own="" if other else note.path)
    if is_plain_name(f"{called}.md"):
        return Rename(note.path, f"{prefix}{called}.md", called)
    others = [path for path in (*memory.by_path, *memory.others) if path != note.path]
    return Rename(note.path, path_for(called, others, memory.layout, folder), called)
