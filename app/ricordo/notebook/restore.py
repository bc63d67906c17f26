"""Bringing an earlier version of a note back."""

from __future__ import annotations

from ricordo.memory.change import Change, Create, Rewrite
from ricordo.memory.change_set import ChangeSet, Edit, effective
from ricordo.memory.hard_link import hard_link_remarks
from ricordo.memory.memory import Memory
from ricordo.notebook.open import Notebook
from ricordo.notebook.versions import Version, whole_content


def restore(notebook: Notebook, memory: Memory, version: Version, path: str) -> ChangeSet:
    """Return the change set that gives the note at `path` the bytes of `version` back, which may
    have had another name; of a deleted version the bytes before. Empty where it holds them
    already. Raises NoteNotFound, ChangeRefused where a value was purged from it, and StateUnusable.
    """
    raw = whole_content(notebook, version.sha or version.before)
    file = memory.by_path.get(path)
    before = file.raw if file else None
    edit = Edit(memory.root, path, before, raw)
    text = (raw or b"").decode("utf-8", "replace")
    act = Rewrite(path, text) if file else Create(path, text, entry="")
    edits = effective([edit])
    changes = (Change(act, f"as it was on {version.at[:16]}"),)
    return ChangeSet(edits, changes, tuple(hard_link_remarks(memory, edits)))
