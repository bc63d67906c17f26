"""Which note a person means by a name."""

from __future__ import annotations

from ricordo.errors import AmbiguousNote, NoteNotFound
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note


def pick_note(memory: Memory, name: str) -> Note:
    """Return the note that `name` means: its path, its stem or its name, exact before folded.

    Raises AmbiguousNote where several fit and NoteNotFound where none does.
    """
    path = name.removeprefix("./")
    for candidate in (path, f"{path}.md"):
        if candidate in memory.by_path:
            return memory.by_path[candidate]
    bare = path[:-3] if path.lower().endswith(".md") else path
    found = memory.names.called(bare)
    if len(found) > 1:
        raise AmbiguousNote(name, sorted(found))
    if found:
        return memory.by_path[found[0]]
    raise NoteNotFound(f"This memory has no note “{name}”. `ricordo` lists its notes.")
