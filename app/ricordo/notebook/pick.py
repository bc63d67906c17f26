"""Which note a person means by a name."""

from __future__ import annotations

from ricordo.errors import AmbiguousNote, NoteNotFound
from ricordo.memory.memory import Memory, folded, normal
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
    for keys in (
        (f"name:{normal(bare)}", f"stem:{normal(bare)}"),
        (f"fold:{folded(bare)}", f"alias:{folded(bare)}"),
    ):
        found = {note.path: note for key in keys for note in memory.names.get(key, ())}
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            raise AmbiguousNote(name, sorted(found))
    raise NoteNotFound(f"This memory has no note “{name}”. `ricordo` lists its notes.")
