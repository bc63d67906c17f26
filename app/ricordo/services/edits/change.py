"""Changing a memory: put a change set together, apply it, and merge it where somebody else wrote
in the meantime.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ricordo.errors import EditRefused
from ricordo.memory.change import PERSON, Change, ChangeSet, Edit
from ricordo.memory.compose import compose
from ricordo.memory.diff import merge
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import BOM
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.operation import CHANGE
from ricordo.storage.writer import Applied, EditConflict, Purpose
from ricordo.text import visible


@dataclass(frozen=True, slots=True)
class Merged:
    """Somebody else changed other lines of the same files: the set that holds both has to be seen
    before it is applied. Nothing has been.
    """

    change_set: ChangeSet
    files: tuple[str, ...]
    """Paths of the files that were merged; none where all that others wrote was taken back by the
    time it was looked at.
    """

    @property
    def told(self) -> str:
        """What others did meanwhile, as a sentence."""
        if not self.files:
            return "Meanwhile somebody else wrote to these files, and took it back."
        files = ", ".join(visible(path) for path in self.files)
        return f"Meanwhile somebody else changed other lines of {files}."


@dataclass(frozen=True, slots=True)
class EditOverlap:
    """Somebody else changed the same lines, or took a file away. Nothing was applied."""

    clashes: tuple[EditConflict, ...]
    moved: Mapping[str, str]
    """Where the content that the set was made against stands now, by path."""

    def error(self) -> EditRefused:
        """The clashes as an error that can be told in one line."""
        changed = [visible(clash.edit.path) for clash in self.clashes if clash.now is not None]
        told = [f"changed the same lines of {', '.join(changed)}"] if changed else []
        for clash in self.clashes:
            path = clash.edit.path
            if path in self.moved:
                told.append(f"renamed {visible(path)} to {visible(self.moved[path])}, as it seems")
            elif clash.now is None:
                told.append(f"deleted {visible(path)}")
        return EditRefused(f"Meanwhile somebody else {' and '.join(told)}.")


def put_together(
    notebook: Notebook,
    memory: Memory,
    changes: Sequence[Change],
    others: Mapping[str, Memory] | None = None,
) -> ChangeSet:
    """Return what `changes` of `memory` come to. Raises ChangeRefused."""
    return compose(memory, changes, marked=protected_paths(notebook), others=others)


def protected_paths(notebook: Notebook) -> Collection[str]:
    """Return the paths of the notes that the person has protected."""
    return notebook.decisions.protected()


def apply_or_merge(
    notebook: Notebook, change_set: ChangeSet, *, by_hand: bool = True, undoes: int | None = None
) -> Applied | Merged | EditOverlap:
    """Apply `change_set`; where others wrote meanwhile, merge instead of applying.

    Raises Conflict where another program has a file open for writing, or where two of them wrote to
    one at the same moment what cannot be merged; and ChangeRefused, WriteFailed, StateUnusable and
    Busy.
    """
    now = notebook.surroundings.now
    author = change_set.author or PERSON
    purpose = Purpose(now, CHANGE, author, change_set.reason, undoes, notebook.place.root)
    outcome = notebook.door.apply(change_set, purpose, by_hand=by_hand)
    if isinstance(outcome, Applied):
        return outcome
    if outcome.conflicts:
        raise EditRefused(
            "Two other programs wrote to the same lines at the same moment: "
            f"{', '.join(map(visible, outcome.conflicts))}.",
            changed="The newer text is in the file; the other one is a conflict in the inbox.",
        )
    if outcome.open_files:
        raise EditRefused(
            f"Another program has {', '.join(map(visible, outcome.open_files))} open for writing. "
            "Close it there, then try again.",
            changed=_changed(outcome.clashes),
        )
    merged: dict[tuple[str, str], Edit | None] = {}
    overlapping: list[EditConflict] = []
    leaving = {(edit.moved_from_root or edit.root, edit.moved_from) for edit in change_set.edits}
    for clash in outcome.clashes:
        # a note that is gone is not made anew under the name that we meant for it
        is_lost = clash.now is None and clash.edit.key in leaving
        edit = _merge(notebook, clash) if not is_lost else None
        if edit is None:
            overlapping.append(clash)
        else:
            merged[clash.edit.key] = edit if edit.before != edit.after else None
    if overlapping:
        return EditOverlap(tuple(overlapping), _moved(notebook, overlapping))
    edits = tuple(
        edit for old in change_set.edits if (edit := merged.get(old.key, old)) is not None
    )
    files = tuple(clash.edit.path for clash in outcome.clashes)
    return Merged(replace(change_set, edits=edits), files)


def _changed(clashes: Sequence[EditConflict]) -> str:
    """Return what of a set that was not applied could not be undone: a file that another program
    opened in that moment.
    """
    files = [visible(clash.edit.path) for clash in clashes if clash.now == clash.edit.after]
    return f"Only {', '.join(files)} was changed." if files else "Nothing was changed."


def apply_at_once(
    notebook: Notebook, change_set: ChangeSet, *, by_hand: bool, undoes: int | None = None
) -> tuple[Applied | None, tuple[str, ...]]:
    """Apply `change_set`, merging clean changes of separate lines on the way; return the act, None
    where others had done the same already, and the paths of files that hold lines of both.

    Raises Conflict where the same lines were changed, and what `apply_or_merge` raises.
    """
    wanted = {edit.key: edit.after for edit in change_set.edits}
    merged: dict[tuple[str, str], str] = {}
    for _ in range(_ATTEMPTS):
        if not change_set.edits:
            return None, tuple(merged.values())
        outcome = apply_or_merge(notebook, change_set, by_hand=by_hand, undoes=undoes)
        if isinstance(outcome, Applied):
            return outcome, tuple(merged.values())
        if isinstance(outcome, EditOverlap):
            raise outcome.error()
        change_set = outcome.change_set
        merged = {
            edit.key: edit.path for edit in change_set.edits if edit.after != wanted[edit.key]
        }
    raise EditRefused("Somebody else keeps writing the same files.")


_ATTEMPTS = 10


def _merge(notebook: Notebook, clash: EditConflict) -> Edit | None:
    """Return the edit that holds both changes; None where they touch."""
    edit, now = clash.edit, clash.now
    if now == edit.after:
        return replace(edit, before=now)
    if edit.before is None or edit.after is None or now is None:
        return None
    texts = [_text(raw) for raw in (edit.before, edit.after, now)]
    if None in texts:
        return None
    base, ours, theirs = (text or "" for text in texts)
    is_index = notebook.place.layout.role(edit.path) is FileRole.INDEX
    both = merge(base, ours, theirs, additions_join=is_index)
    if both is None:
        return None
    mark = BOM if now.startswith(BOM) else b""
    return replace(edit, before=now, after=mark + both.encode("utf-8"))


def _text(raw: bytes) -> str | None:
    try:
        return raw.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _moved(notebook: Notebook, clashes: Sequence[EditConflict]) -> dict[str, str]:
    """Find the content of files that are gone elsewhere in the memory."""
    gone = [clash.edit for clash in clashes if clash.now is None and clash.edit.before]
    if not gone:
        return {}
    by_content = {file.raw: file.path for file in notebook.read().files}
    return {
        edit.path: by_content[edit.before]
        for edit in gone
        if edit.before is not None and edit.before in by_content
    }
