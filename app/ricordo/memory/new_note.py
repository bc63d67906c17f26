"""A new note as the memory's own notes are written: head, folder, file name."""

from __future__ import annotations

from ricordo.memory.change import Create
from ricordo.memory.head_edit import written
from ricordo.memory.layout import Role
from ricordo.memory.memory import Memory
from ricordo.memory.new_path import path_for


def new_note(memory: Memory, name: str, type_: str, description: str, body: str) -> Create:
    """Return the act that makes a note; its head has the fields that the memory's heads have."""
    head = frontmatter_of(memory, name, type_, description)
    gap = "" if body.startswith("\n") else "\n"
    ended = body if body.endswith("\n") else f"{body}\n"
    folder = _folder(memory, type_)
    path = path_for(name, (*memory.by_path, *memory.others), memory.layout, folder)
    return Create(path, head + gap + ended)


def frontmatter_of(memory: Memory, name: str, type_: str, description: str) -> str:
    """Return the frontmatter of a note, with the fields that the memory's notes have."""
    layout = memory.layout
    lines = [f"{layout.title_keys[0]}: {written(name)}"]
    if description or "description" in layout.required:
        lines.append(f"{layout.summary_keys[0]}: {written(description)}")
    if type_ and _nests_types(memory):
        lines += ["metadata:", f"  {layout.type_keys[0]}: {written(type_)}"]
    elif type_:
        lines.append(f"{layout.type_keys[0]}: {written(type_)}")
    return "\n".join(["---", *lines, "---", ""])


def _nests_types(memory: Memory) -> bool:
    """Say whether most notes of the memory have their type inside `metadata`."""
    key = memory.layout.type_keys[0]
    typed = [note for note in memory.notes if note.type]
    nested = sum(key not in note.head.fields for note in typed)
    return nested * 2 > len(typed)


def _folder(memory: Memory, type_: str) -> str:
    """Return the folder in which most notes of a type stand."""
    counts: dict[str, int] = {}
    for note in memory.notes:
        if note.role is Role.NOTE and (not type_ or note.type == type_):
            folder = note.path.rpartition("/")[0]
            counts[folder] = counts.get(folder, 0) + 1
    return max(counts, key=lambda folder: counts[folder], default="")
