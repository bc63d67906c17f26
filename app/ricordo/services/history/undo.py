"""Undo and redo of the last act, a change of files or a decision. If others changed the files
since, the result is merged and has to be confirmed.

An act that cannot be undone is reported once; while it cannot, the act before it is the next one.
Where others changed the same lines, that is as long as these files stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ricordo.errors import ChangeRefused, NothingToUndo
from ricordo.memory.change import (
    Change,
    ChangeSet,
    Edit,
    Rewrite,
    compute_digest,
    drop_empty_edits,
)
from ricordo.services.edits.change import EditConflicts, MergedEdits, apply_or_merge
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.database import transaction
from ricordo.storage.decisions import Decision, ReviewVerdict, read_decisions
from ricordo.storage.history import History, open_recorded
from ricordo.storage.jail import check_reachable
from ricordo.storage.operation import CHANGE, FileOperation, HistoryEntry, Place
from ricordo.storage.own_folder import remove_empty_folders
from ricordo.storage.writer import Applied, EditConflict
from ricordo.text import clip, make_visible

UNDONE = "undone"
"""Kind of an act that undoes or redoes a decision."""
_FOLLOW_UP = "The next {} skips it."
_SKIPPED = "passed over"
"""Kind of an act that marks another one, its subject, as impossible to undo."""
_CREATED = "directories created"
"""Kind of an act that records which directories were created for a memory."""
_LONGEST_REASON = 80
"""Cells."""
_MOST_NAMES = 3
"""Files that the description of an act names."""
_UNDOABLE = frozenset(
    (CHANGE, UNDONE, *(it.value for it in Decision), *(it.value for it in ReviewVerdict))
)

_DESCRIPTIONS: Mapping[str, str] = {
    Decision.DISMISS: "dismissal of a finding",
    Decision.RESTORE: "end of a dismissal",
    Decision.KEEP: "“keep” of others' changes to {}",
    Decision.SNOOZE: "“later” of others' changes to {}",
    Decision.PROTECT: "protection of {}",
    Decision.UNPROTECT: "end of the protection of {}",
    Decision.ALLOW: "permission to send a value to models",
    Decision.DISALLOW: "end of the permission to send a value to models",
    Decision.REFUSE: "refusal of {}",
    ReviewVerdict.TRUE: "“still true” of {}",
    ReviewVerdict.WRONG: "“wrong” of {}",
    ReviewVerdict.LATER: "“later” of {}",
}
"""Description of each kind of decision; {} is the path of the file that it is about."""


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What was undone or redone."""

    description: str
    """Description of the act: `change of feedback_testing.md (it was wrong)`."""
    edits: tuple[Edit, ...] = ()
    """The edits that were made."""
    subjects: tuple[str, ...] = ()
    """Subjects of a decision: paths of notes, or ids of something else."""

    @property
    def affected(self) -> frozenset[str]:
        """The paths of the edited files, and the subject of a decision."""
        return frozenset((*(edit.path for edit in self.edits), *self.subjects))


@dataclass(frozen=True, slots=True)
class UndoToConfirm:
    """Others wrote to the same files since: nothing is done until the user confirms."""

    description: str
    outcome: MergedEdits | EditConflicts
    undoes: int
    """The act to undo; to be passed on when the merged change set is applied."""
    follow_up: str = ""
    """What the next undo or redo does where this one cannot be done, as a sentence; "" if that is
    nothing else.
    """


@dataclass(frozen=True, slots=True)
class ForeignChange:
    """The next change of files to undo or redo, where this process did not make it."""

    act: int
    description: str
    at: str
    """ISO 8601."""
    change_set: ChangeSet
    """What undoing or redoing it changes."""


def find_foreign_change(notebook: Notebook, *, back: bool) -> ForeignChange | None:
    """Return what `undo`, or `redo` without `back`, would undo or redo next if another process did
    it, such as a command, or an earlier notebook; None for own changes, decisions, and what is
    impossible. Raises StateUnusable.
    """
    done, undone = _stacks(notebook)
    act, by = (done[-1], done[-1].n) if back and done else (None, 0)
    if not back and undone:
        act, by = undone[-1]
    if act is None or act.kind != CHANGE:
        return None
    with notebook.database.connect() as connection:
        history = History(connection)
        if history.is_own(by) or _why_impossible(history, act):
            return None
        at = (history.get_entry(by) or act).at
    return ForeignChange(
        by, describe_act(notebook, act), at, _build_change_set(notebook, act, back=back)
    )


def undo(notebook: Notebook) -> UndoResult | UndoToConfirm:
    """Undo the last act. Raises NothingToUndo, ChangeRefused, StateUnusable and Busy."""
    done, _ = _stacks(notebook)
    if not done:
        raise NothingToUndo("Nothing to undo here.")
    follow_up = _FOLLOW_UP.format("undo") if done[1:] else ""
    _refuse_impossible(notebook, done[-1], "undone", follow_up)
    return _apply(notebook, done[-1], done[-1].n, follow_up, back=True)


def redo(notebook: Notebook) -> UndoResult | UndoToConfirm:
    """Redo the last undone act. Raises what `undo` raises."""
    _, undone = _stacks(notebook)
    if not undone:
        raise NothingToUndo("Nothing to redo here.")
    act, by = undone[-1]
    follow_up = _FOLLOW_UP.format("redo") if undone[1:] else ""
    _refuse_impossible(notebook, act, "redone", follow_up)
    return _apply(notebook, act, by, follow_up, back=False)


def can_undo(notebook: Notebook) -> tuple[bool, bool]:
    """Return whether there is an act to undo, and one to redo; an act counts until it was reported
    as impossible. Raises StateUnusable.
    """
    done, undone = _stacks(notebook)
    return bool(done), bool(undone)


def record_created(notebook: Notebook, directories: Sequence[str]) -> None:
    """Record that these directories were created for a memory. Raises StateUnusable."""
    with notebook.database.connect() as connection, transaction(connection):
        history = History(connection)
        root = history.ensure_root(notebook.place.root).id
        now = notebook.environment.now.isoformat()
        history.add_entry(root, now, _CREATED, reason=json.dumps(directories))


def remove_created(notebook: Notebook) -> None:
    """Remove the directories that were created for a memory, those that are empty. Raises
    StateUnusable.
    """
    with open_recorded(notebook.database, notebook.place.root) as recorded:
        if recorded is None:
            return
        history, root = recorded
        created = [act.reason for act in history.list_entries(root) if act.kind == _CREATED]
    remove_empty_folders(directory for reason in created for directory in json.loads(reason))


def _stacks(notebook: Notebook) -> tuple[list[HistoryEntry], list[tuple[HistoryEntry, int]]]:
    """Return the acts to undo and those to redo, the next one last; the latter with the act that
    undid them. Left out are acts reported as impossible that still are.
    """
    done: list[HistoryEntry] = []
    undone: list[tuple[HistoryEntry, int]] = []
    with open_recorded(notebook.database, notebook.place.root) as recorded:
        if recorded is None:
            return done, undone
        history, root = recorded
        acts = history.list_entries(root)
        reported = {act.subject: act.reason for act in acts if act.kind == _SKIPPED}
        skipped = {
            act.n
            for act in acts
            if (overwritten := reported.get(str(act.n))) is not None
            and (_is_current(history, overwritten) or _why_impossible(history, act))
        }
    for act in acts:
        if act.kind not in _UNDOABLE:
            continue
        if act.undoes is None:
            done.append(act)
            undone = []
        elif any(other.n == act.undoes for other in done):
            target = next(other for other in done if other.n == act.undoes)
            done.remove(target)
            undone.append((target, act.n))
        else:
            again = next((it for it in undone if it[1] == act.undoes), None)
            if again is not None:
                undone.remove(again)
                done.append(again[0])
    return (
        [act for act in done if act.n not in skipped],
        [(act, by) for act, by in undone if act.n not in skipped],
    )


def _refuse_impossible(notebook: Notebook, act: HistoryEntry, word: str, follow_up: str) -> None:
    """Raise ChangeRefused if `act` cannot be `word`, "undone" or "redone", and skip it from then
    on; `follow_up` says so.
    """
    with notebook.database.connect() as connection:
        why = _why_impossible(History(connection), act)
    if why:
        _skip(notebook, act)
        raise ChangeRefused(
            f"{why} So the {describe_act(notebook, act)} cannot be {word}.",
            hint=follow_up,
            changed="No file was changed.",
        )


def _skip(notebook: Notebook, act: HistoryEntry, conflicts: Sequence[EditConflict] = ()) -> None:
    """Record that `act` was reported as impossible to undo or redo, if for `conflicts` then for the
    present contents of their files.
    """
    with notebook.database.connect() as connection, transaction(connection):
        history = History(connection)
        root = history.ensure_root(notebook.place.root).id
        now = notebook.environment.now.isoformat()
        overwritten = [
            (history.ensure_root(it.edit.root).id, it.edit.path, compute_digest(it.current))
            for it in conflicts
        ]
        reason = json.dumps(overwritten) if overwritten else ""
        history.add_entry(root, now, _SKIPPED, subject=str(act.n), reason=reason)


def _is_current(history: History, overwritten: str) -> bool:
    """Return whether the files that `_skip` recorded still have the contents that they had then."""
    files = json.loads(overwritten) if overwritten else ()
    return bool(files) and all(
        history.get_known_content(root, path) == digest for root, path, digest in files
    )


def _why_impossible(history: History, act: HistoryEntry) -> str:
    """Return why an act can be neither undone nor redone, as a sentence; "" if it can."""
    ops = history.list_operations(act.n)
    for op in ops:
        if not (history.is_unmasked(op.pre) and history.is_unmasked(op.post)):
            return f"A text of {make_visible(op.path)} was purged or dropped from the history."
    roots = dict.fromkeys(root for op in ops for root in (op.root, op.from_root) if root)
    paths = (history.get_root(root).path for root in roots)
    return next((why for path in paths if (why := check_reachable(path))), "")


def _apply(
    notebook: Notebook, act: HistoryEntry, undoes: int, follow_up: str, *, back: bool
) -> UndoResult | UndoToConfirm:
    description = describe_act(notebook, act)
    if act.kind != CHANGE:
        with notebook.database.connect() as connection, transaction(connection):
            now = notebook.environment.now.isoformat()
            History(connection).add_entry(act.root, now, UNDONE, undoes=undoes)
        decided = tuple(subject for _, subject in read_decisions(act)) or (act.subject,)
        return UndoResult(description, subjects=decided)
    change_set = _build_change_set(notebook, act, back=back)
    outcome = apply_or_merge(notebook, change_set, undoes=undoes)
    if isinstance(outcome, Applied):
        return UndoResult(description, change_set.edits)
    if isinstance(outcome, EditConflicts) and follow_up:
        _skip(notebook, act, outcome.conflicts)
    return UndoToConfirm(description, outcome, undoes, follow_up)


def _build_change_set(notebook: Notebook, act: HistoryEntry, *, back: bool) -> ChangeSet:
    """Return the change set that undoes `act`, or redoes it."""
    edits = _edits(notebook, act, back=back)
    reason = f"{'undo' if back else 'redo'} of {describe_act(notebook, act)}"
    return ChangeSet(edits, tuple(Change(Rewrite(edit.path, ""), reason) for edit in edits))


def _edits(notebook: Notebook, act: HistoryEntry, *, back: bool) -> tuple[Edit, ...]:
    with notebook.database.connect() as connection:
        history = History(connection)
        ops = history.list_operations(act.n)
        origins = _origins(ops, back=back)
        edits: list[Edit] = []
        for op in ops:
            pre, post = history.get_content(op.pre), history.get_content(op.post)
            before, after = (post, pre) if back else (pre, post)
            root = history.get_root(op.root).path
            from_root, origin = origins.get((op.root, op.path), (op.root, ""))
            other_root = history.get_root(from_root).path if from_root != op.root else ""
            edits.append(
                Edit(
                    root,
                    op.path,
                    before,
                    after,
                    moved_from=origin,
                    moved_from_root=other_root,
                    is_single_file=op.single,
                )
            )
    return drop_empty_edits(edits)


def _origins(ops: Sequence[FileOperation], *, back: bool) -> dict[Place, Place]:
    """Return the source of each moved file by its target, when `ops` are undone or redone."""
    moves = [((op.from_root, op.from_path), (op.root, op.path)) for op in ops if op.from_path]
    return dict(moves) if back else {to: origin for origin, to in moves}


def describe_act(notebook: Notebook, act: HistoryEntry) -> str:
    """Return a short description of an act, such as `change of a.md (it was wrong)`."""
    reason = f" ({clip(act.reason, _LONGEST_REASON)})" if act.reason else ""
    if act.kind != CHANGE:
        return f"{_DESCRIPTIONS[act.kind].format(_subject(notebook, act))}{reason}"
    with notebook.database.connect() as connection:
        ops = History(connection).list_operations(act.n)
    decided = f", with {proposals}" if (proposals := _proposals(act)) else ""
    return f"change of {_list_names([op.path for op in ops])}{reason}{decided}"


def _list_names(paths: Sequence[str]) -> str:
    names = [make_visible(path) for path in dict.fromkeys(paths)]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _proposals(act: HistoryEntry) -> str:
    """Return the number of proposals that an act applied or refused, in words; "" for none."""
    kinds = (Decision.ACCEPT, Decision.REFUSE)
    count = sum(decision in kinds for decision, _ in read_decisions(act))
    return "" if not count else "1 proposal" if count == 1 else f"{count} proposals"


def _subject(notebook: Notebook, act: HistoryEntry) -> str:
    """Return what a decision is about: paths of notes, or the number of proposals. The subjects of
    a decision on arrivals have the numbers of act and op.
    """
    if act.kind == Decision.REFUSE:
        return _proposals(act)
    if act.kind not in (Decision.KEEP, Decision.SNOOZE):
        return make_visible(act.subject)
    with notebook.database.connect() as connection:
        history = History(connection)
        arrivals = (subject.partition(".") for _, subject in read_decisions(act))
        return _list_names([history.list_operations(int(n))[int(op)].path for n, _, op in arrivals])
