"""Which note a person means by a name."""

from __future__ import annotations

from ricordo.errors import AmbiguousNote, ChangeRefused, NoteNotFound, WrongUsage
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, stem
from ricordo.services.history.versions import gone_notes, versions
from ricordo.services.history.whereabouts import Whereabouts
from ricordo.services.workspace.notebook import Notebook
from ricordo.text import visible


def pick_note(memory: Memory, name: str) -> Note:
    """Return the note that `name` means: its path, its stem or its name, exact before folded.

    Raises AmbiguousNote where several fit and NoteNotFound where none does.
    """
    path = name.removeprefix("./")
    for candidate in (path, f"{path}.md"):
        if candidate in memory.by_path:
            return memory.by_path[candidate]
    bare = path[:-3] if path.lower().endswith(".md") else path
    found = memory.names.called(path) or memory.names.called(bare)
    if len(found) > 1:
        raise AmbiguousNote(name, sorted(found))
    if found:
        return memory.by_path[found[0]]
    raise NoteNotFound(f"This memory has no note “{name}”. `ricordo` lists its notes.")


def refuse_outside(name: str) -> None:
    """Raise WrongUsage where `name` is that of a note outside the memory."""
    if name.startswith("/") or ".." in name.split("/"):
        raise WrongUsage(f"{visible(name)} leads out of the memory.")


def refuse_taken(memory: Memory, name: str, own: str = "") -> None:
    """Raise ChangeRefused where `name` already means another note than the one at `own`."""
    others = [path for path in memory.names.called(name) if path != own]
    if others:
        raise ChangeRefused(
            f"The name “{visible(name)}” is taken: {visible(others[0])} is there already."
        )


def pick_path(notebook: Notebook, memory: Memory, name: str) -> str:
    """Return the path of the note that `name` means, also by a name that it had before, or of one
    that the history alone still knows.

    Raises AmbiguousNote, NoteNotFound and StateUnusable.
    """
    try:
        return pick_note(memory, name).path
    except NoteNotFound:
        known = dict.fromkeys(version.path for version in versions(notebook))
        bare = name.removesuffix(".md")
        found = [path for path in known if name == path] or [
            path for path in known if bare in (stem(path), path.removesuffix(".md"))
        ]
        if len(found) > 1:
            raise AmbiguousNote(name, sorted(found)) from None
        if not found:
            raise
        path = found[0]
        if any(path == version.path for version in gone_notes(notebook)):
            return path
        return Whereabouts(notebook.database, memory).get(path, path)
