"""Build and apply change sets, and merge them where another program wrote in the meantime."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ricordo.errors import EditRefused
from ricordo.memory.change import USER, Change, ChangeSet, Edit
from ricordo.memory.compose import compose
from ricordo.memory.diff import merge
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import BOM
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.operation import CHANGE
from ricordo.storage.writer import Applied, ChangePurpose, EditConflict
from ricordo.text import make_visible


@dataclass(frozen=True, slots=True)
class MergedEdits:
    """A change set merged with changes of other programs to other lines of the same files. It was
    not applied: the user has to review it first.
    """

    change_set: ChangeSet
    files: tuple[str, ...]
    """Paths of the files that were merged; empty where the others' changes were reverted before
    they could be merged.
    """

    @property
    def summary(self) -> str:
        """What others changed meanwhile, as a sentence."""
        if not self.files:
            return "Another program changed these files meanwhile, and reverted it."
        files = ", ".join(make_visible(path) for path in self.files)
        return f"Another program changed other lines of {files} meanwhile."


@dataclass(frozen=True, slots=True)
class EditConflicts:
    """Conflicts with another program, which changed the same lines or removed a file. Nothing was
    applied.
    """

    conflicts: tuple[EditConflict, ...]
    moved: Mapping[str, str]
    """The present paths of the contents that the set was made for, by their former ones."""

    def to_error(self, hint: str = "") -> EditRefused:
        """Return the conflicts as an error with a message of one line; `hint` says what to do."""
        changed = [
            make_visible(clash.edit.path) for clash in self.conflicts if clash.current is not None
        ]
        events = [f"changed the same lines of {', '.join(changed)}"] if changed else []
        for clash in self.conflicts:
            path = clash.edit.path
            if path in self.moved:
                events.append(
                    f"probably renamed {make_visible(path)} to {make_visible(self.moved[path])}"
                )
            elif clash.current is None:
                events.append(f"deleted {make_visible(path)}")
        return EditRefused(f"Another program {' and '.join(events)} meanwhile.", hint=hint)


def build_change_set(
    notebook: Notebook,
    memory: Memory,
    changes: Sequence[Change],
    others: Mapping[str, Memory] | None = None,
) -> ChangeSet:
    """Return the change set of `changes` to `memory`. Raises ChangeRefused."""
    return compose(memory, changes, protected=protected_paths(notebook), others=others)


def protected_paths(notebook: Notebook) -> Collection[str]:
    """Return the paths of the notes that the user has protected."""
    return notebook.decisions.find_protected()


def apply_or_merge(
    notebook: Notebook, change_set: ChangeSet, *, by_hand: bool = True, undoes: int | None = None
) -> Applied | MergedEdits | EditConflicts:
    """Apply `change_set`; where another program wrote meanwhile, return a merge instead.

    Raises EditRefused where another program has a file open for writing, or where two of them wrote
    to one at the same moment and cannot be merged; and ChangeRefused, WriteFailed, StateUnusable
    and Busy.
    """
    now = notebook.environment.now
    author = change_set.author or USER
    purpose = ChangePurpose(now, CHANGE, author, change_set.reason, undoes, notebook.place.root)
    outcome = notebook.writer.apply(change_set, purpose, by_hand=by_hand)
    if isinstance(outcome, Applied):
        return outcome
    if outcome.unmerged:
        raise EditRefused(
            "Two other programs changed the same lines at the same moment: "
            f"{', '.join(map(make_visible, outcome.unmerged))}.",
            changed="The newer text is in the file, the other one in the inbox as a conflict.",
        )
    if outcome.open_files:
        raise EditRefused(
            f"Another program has {', '.join(map(make_visible, outcome.open_files))} open for "
            "writing.",
            hint="Close it there, then try again.",
            changed=_describe_changed(outcome.edit_conflicts),
        )
    merged: dict[tuple[str, str], Edit | None] = {}
    overlapping: list[EditConflict] = []
    moved = {(it.moved_from_root or it.root, it.moved_from): it for it in change_set.edits}
    for clash in outcome.edit_conflicts:
        target = moved.get(clash.edit.key)
        if target is None:
            found = {clash.edit.key: _merge(notebook, clash)}
        else:
            found = _follow_move(notebook, clash, target)
        if None in found.values():
            overlapping.append(clash)
        for key, edit in found.items():
            if edit is not None:
                merged[key] = edit if edit.before != edit.after else None
    if overlapping:
        return EditConflicts(tuple(overlapping), _find_moved(notebook, overlapping))
    edits = tuple(
        edit for old in change_set.edits if (edit := merged.get(old.key, old)) is not None
    )
    files = tuple(clash.edit.path for clash in outcome.edit_conflicts)
    return MergedEdits(replace(change_set, edits=edits), files)


def _describe_changed(clashes: Sequence[EditConflict]) -> str:
    """Return which files of a refused set stayed changed: those that another program opened in
    that moment cannot be restored.
    """
    files = [
        make_visible(clash.edit.path) for clash in clashes if clash.current == clash.edit.after
    ]
    return f"Only {', '.join(files)} was changed." if files else "Nothing was changed."


def apply_merging(
    notebook: Notebook, change_set: ChangeSet, *, by_hand: bool, undoes: int | None = None
) -> tuple[Applied | None, tuple[str, ...]]:
    """Apply `change_set`, merging it with changes of other lines. Return the act, None where
    another program had made the same change, and the paths of the merged files.

    Raises EditRefused where the same lines were changed, and what `apply_or_merge` raises.
    """
    wanted = {edit.key: edit.after for edit in change_set.edits}
    merged: dict[tuple[str, str], str] = {}
    for _ in range(_ATTEMPTS):
        if not change_set.edits:
            return None, tuple(merged.values())
        outcome = apply_or_merge(notebook, change_set, by_hand=by_hand, undoes=undoes)
        if isinstance(outcome, Applied):
            return outcome, tuple(merged.values())
        if isinstance(outcome, EditConflicts):
            raise outcome.to_error()
        change_set = outcome.change_set
        merged = {
            edit.key: edit.path for edit in change_set.edits if edit.after != wanted[edit.key]
        }
    raise EditRefused("Another program keeps writing to the same files.")


_ATTEMPTS = 10


def _merge(notebook: Notebook, clash: EditConflict) -> Edit | None:
    """Return the edit with both changes; None where they touch the same lines."""
    edit, now = clash.edit, clash.current
    if now == edit.after:
        return replace(edit, before=now)
    if edit.before is None or edit.after is None or now is None:
        return None
    texts = [_decode(raw) for raw in (edit.before, edit.after, now)]
    if None in texts:
        return None
    base, ours, theirs = (text or "" for text in texts)
    is_index = notebook.place.layout.get_role(edit.path) is FileRole.INDEX
    both = merge(base, ours, theirs, additions_join=is_index)
    if both is None:
        return None
    mark = BOM if now.startswith(BOM) else b""
    return replace(edit, before=now, after=mark + both.encode("utf-8"))


def _follow_move(
    notebook: Notebook, clash: EditConflict, target: Edit
) -> dict[tuple[str, str], Edit | None]:
    """Return the edits that move a file to `target` with what others changed in it meanwhile, by
    place; no edit where that cannot be merged, or where the file was removed: it is not created
    again under its new name.
    """
    source = clash.edit
    moved = _merge(notebook, EditConflict(replace(source, after=target.after), clash.current))
    if moved is None or source.after is not None or clash.current is None:
        return {source.key: None}
    return {
        source.key: replace(source, before=clash.current),
        target.key: replace(target, after=moved.after),
    }


def _decode(raw: bytes) -> str | None:
    try:
        return raw.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _find_moved(notebook: Notebook, clashes: Sequence[EditConflict]) -> dict[str, str]:
    """Return where else in the memory the contents of removed files are now, by former path."""
    removed = [clash.edit for clash in clashes if clash.current is None and clash.edit.before]
    if not removed:
        return {}
    by_content = {file.raw: file.path for file in notebook.read().files}
    return {
        edit.path: by_content[edit.before]
        for edit in removed
        if edit.before is not None and edit.before in by_content
    }
