"""Resolving a note by name."""

from __future__ import annotations

from collections.abc import Iterator

from ricordo.errors import AmbiguousNote, ChangeRefused, NoteNotFound, WrongUsage
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, get_stem
from ricordo.services.history.moved_files import MovedFiles
from ricordo.services.history.versions import list_deleted, list_versions
from ricordo.services.workspace.notebook import Notebook
from ricordo.suggestions import MOST, suggest
from ricordo.text import make_one_line, make_visible


def pick_note(memory: Memory, name: str) -> Note:
    """Return the note with this path, stem or name; exact matches win over case-folded ones.

    Raises AmbiguousNote if several match and NoteNotFound if none does.
    """
    path = name.removeprefix("./")
    for candidate in (path, f"{path}.md"):
        if candidate in memory.by_path:
            return memory.by_path[candidate]
    bare = path[:-3] if path.lower().endswith(".md") else path
    paths = memory.names.find_by_name(path) or memory.names.find_by_name(bare)
    if len(paths) > 1:
        raise AmbiguousNote(name, sorted(paths))
    if paths:
        return memory.by_path[paths[0]]
    near = suggest(bare, _list_names(memory)) or _describe_matches(memory, bare)
    hint = f"{near} `ricordo` lists its notes.".lstrip()
    raise NoteNotFound(f"This memory has no note “{name}”.", hint=hint)


def _describe_matches(memory: Memory, part: str) -> str:
    """Return how many notes have `part` in their name, and the first of them; "" where they are too
    few to be more than near.
    """
    matches = [note.stem for note in memory.notes if part.casefold() in note.stem.casefold()]
    if not part or len(matches) <= MOST:
        return ""
    shown = ", ".join(f"“{make_one_line(name)}”" for name in matches[:MOST])
    return f"{len(matches):,} names contain it, such as {shown}."


def _list_names(memory: Memory) -> Iterator[str]:
    """Yield the words by which a note can be chosen: paths without their ending, stems, names."""
    for note in memory.notes:
        yield note.path.removesuffix(".md")
    for note in memory.notes:
        yield note.stem
        yield note.name


def refuse_outside(name: str) -> None:
    """Raise WrongUsage if `name` is a path outside the memory."""
    if name.startswith("/") or ".." in name.split("/"):
        raise WrongUsage(f"{make_visible(name)} is outside the memory.")


def refuse_taken(memory: Memory, name: str, own: str = "") -> None:
    """Raise ChangeRefused if `name` already names a note other than the one at `own`."""
    others = [path for path in memory.names.find_by_name(name) if path != own]
    if others:
        raise ChangeRefused(
            f"The name “{make_visible(name)}” is already used by {make_visible(others[0])}."
        )


def pick_path(notebook: Notebook, memory: Memory, name: str) -> str:
    """Return the path of the note called `name`, now or earlier, or of a deleted note that the
    history knows.

    Raises AmbiguousNote, NoteNotFound and StateUnusable.
    """
    try:
        return pick_note(memory, name).path
    except NoteNotFound:
        known = dict.fromkeys(version.path for version in list_versions(notebook))
        bare = name.removesuffix(".md")
        matches = [path for path in known if name == path] or [
            path for path in known if bare in (get_stem(path), path.removesuffix(".md"))
        ]
        if len(matches) > 1:
            raise AmbiguousNote(name, sorted(matches)) from None
        if not matches:
            raise
        path = matches[0]
        if any(path == version.path for version in list_deleted(notebook)):
            return path
        return MovedFiles(notebook.database, memory).get(path, path)
