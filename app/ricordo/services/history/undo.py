"""Undo and redo of the last act, a change of files or a decision. If others changed the files
since, the result is merged and has to be confirmed.

An act that cannot be undone is reported once; while it cannot, the act before it is the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ricordo.errors import ChangeRefused, NothingToUndo
from ricordo.memory.change import Change, ChangeSet, Edit, Rewrite, effective
from ricordo.services.edits.change import EditOverlap, Merged, apply_or_merge
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.database import transaction
from ricordo.storage.decisions import Decision, ReviewVerdict, decided_in
from ricordo.storage.history import History
from ricordo.storage.jail import why_unreachable
from ricordo.storage.operation import CHANGE, Act, Op, Place
from ricordo.storage.writer import Applied
from ricordo.text import clip, visible

UNDONE = "undone"
"""Kind of an act that undoes or redoes a decision."""
_SKIPPED = "passed over"
"""Kind of an act that marks another one, its subject, as impossible to undo."""
_LONGEST_REASON = 80
"""Cells."""
_UNDOABLE = frozenset(
    (CHANGE, UNDONE, *(it.value for it in Decision), *(it.value for it in ReviewVerdict))
)

_DESCRIPTIONS: Mapping[str, str] = {
    Decision.DISMISS: "dismissal of a finding",
    Decision.STAND: "end of a dismissal",
    Decision.KEEP: "“keep” of others' changes to {}",
    Decision.SNOOZE: "“later” of others' changes to {}",
    Decision.PROTECT: "protection of {}",
    Decision.FREE: "end of the protection of {}",
    Decision.ALLOW: "permission to send a value to models",
    Decision.WITHHOLD: "end of the permission to send a value to models",
    Decision.REFUSE: "refusal of {}",
    ReviewVerdict.TRUE: "“still true” of {}",
    ReviewVerdict.WRONG: "“wrong” of {}",
    ReviewVerdict.LATER: "“later” of {}",
}
"""Description of each kind of decision; {} is the path of the file that it is about."""


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What was undone or redone."""

    told: str
    """Description of the act: `change of feedback_testing.md (it was wrong)`."""
    edits: tuple[Edit, ...] = ()
    """The edits that were made."""
    subject: str = ""
    """Subject of a decision: the path of a note, or the id of something else."""

    @property
    def about(self) -> frozenset[str]:
        """The paths of the edited files, and the subject of a decision."""
        return frozenset((*(edit.path for edit in self.edits), self.subject)) - {""}


@dataclass(frozen=True, slots=True)
class ToBeSeen:
    """Others wrote to the same files since: nothing is done until the user confirms."""

    told: str
    outcome: Merged | EditOverlap
    undoes: int
    """The act to undo; to be passed on when the merged change set is applied."""


def undo(notebook: Notebook) -> UndoResult | ToBeSeen:
    """Undo the last act. Raises NothingToUndo, ChangeRefused, StateUnusable and Busy."""
    done, _ = _stacks(notebook)
    if not done:
        raise NothingToUndo("Nothing to undo in this memory.")
    _refuse_impossible(notebook, done[-1], "undone", "undo" if done[1:] else "")
    return _apply(notebook, done[-1], done[-1].n, back=True)


def redo(notebook: Notebook) -> UndoResult | ToBeSeen:
    """Redo the last undone act. Raises what `undo` raises."""
    _, undone = _stacks(notebook)
    if not undone:
        raise NothingToUndo("Nothing to redo in this memory.")
    act, by = undone[-1]
    _refuse_impossible(notebook, act, "redone", "redo" if undone[1:] else "")
    return _apply(notebook, act, by, back=False)


def can_take_back(notebook: Notebook) -> tuple[bool, bool]:
    """Return whether there is an act to undo, and one to redo; an act counts until it was reported
    as impossible. Raises StateUnusable.
    """
    done, undone = _stacks(notebook)
    return bool(done), bool(undone)


def _stacks(notebook: Notebook) -> tuple[list[Act], list[tuple[Act, int]]]:
    """Return the acts to undo and those to redo, the next one last; the latter with the act that
    undid them. Left out are acts reported as impossible that still are.
    """
    done: list[Act] = []
    undone: list[tuple[Act, int]] = []
    if not notebook.database.exists:
        return done, undone
    with notebook.database.opened() as connection:
        history = History(connection)
        root = history.known_root(notebook.place.root)
        acts = history.acts(root.id) if root else []
        reported = {act.subject for act in acts if act.kind == _SKIPPED}
        skipped = {
            act.n for act in acts if str(act.n) in reported and _why_impossible(history, act)
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


def _refuse_impossible(notebook: Notebook, act: Act, word: str, next_word: str) -> None:
    """Raise ChangeRefused if `act` cannot be `word`, "undone" or "redone", and skip it from then
    on; `next_word` is "undo" or "redo", "" if no other act is left.
    """
    with notebook.database.opened() as connection:
        history = History(connection)
        why = _why_impossible(history, act)
        if not why:
            return
        with transaction(connection):
            root = history.root(notebook.place.root).id
            now = notebook.surroundings.now.isoformat()
            history.begin(root, now, _SKIPPED, subject=str(act.n))
    follows = f" The next {next_word} skips it." if next_word else ""
    raise ChangeRefused(
        f"{why} So the {tell(notebook, act)} cannot be {word}.{follows}",
        changed="No file was changed.",
    )


def _why_impossible(history: History, act: Act) -> str:
    """Return why an act can be neither undone nor redone, as a sentence; "" if it can."""
    ops = history.ops(act.n)
    for op in ops:
        if not (history.is_whole(op.pre) and history.is_whole(op.post)):
            return f"A text of {visible(op.path)} was purged or dropped from the history."
    roots = dict.fromkeys(root for op in ops for root in (op.root, op.from_root) if root)
    paths = (history.root_of_id(root).path for root in roots)
    return next((why for path in paths if (why := why_unreachable(path))), "")


def _apply(notebook: Notebook, act: Act, undoes: int, *, back: bool) -> UndoResult | ToBeSeen:
    description = tell(notebook, act)
    if act.kind != CHANGE:
        with notebook.database.opened() as connection, transaction(connection):
            now = notebook.surroundings.now.isoformat()
            History(connection).begin(act.root, now, UNDONE, undoes=undoes)
        return UndoResult(description, subject=act.subject)
    edits = _edits(notebook, act, back=back)
    reason = f"{'undo' if back else 'redo'} of {description}"
    change_set = ChangeSet(edits, tuple(Change(Rewrite(edit.path, ""), reason) for edit in edits))
    outcome = apply_or_merge(notebook, change_set, undoes=undoes)
    if isinstance(outcome, Applied):
        return UndoResult(description, change_set.edits)
    return ToBeSeen(description, outcome, undoes)


def _edits(notebook: Notebook, act: Act, *, back: bool) -> tuple[Edit, ...]:
    with notebook.database.opened() as connection:
        history = History(connection)
        ops = history.ops(act.n)
        origins = _origins(ops, back=back)
        edits: list[Edit] = []
        for op in ops:
            pre, post = history.content(op.pre), history.content(op.post)
            before, after = (post, pre) if back else (pre, post)
            root = history.root_of_id(op.root).path
            from_root, origin = origins.get((op.root, op.path), (op.root, ""))
            other_root = history.root_of_id(from_root).path if from_root != op.root else ""
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
    return effective(edits)


def _origins(ops: Sequence[Op], *, back: bool) -> dict[Place, Place]:
    """Return the source of each moved file by its target, when `ops` are undone or redone."""
    moves = [((op.from_root, op.from_path), (op.root, op.path)) for op in ops if op.from_path]
    return dict(moves) if back else {to: origin for origin, to in moves}


def tell(notebook: Notebook, act: Act) -> str:
    """Return a short description of an act, such as `change of a.md (it was wrong)`."""
    reason = f" ({clip(act.reason, _LONGEST_REASON)})" if act.reason else ""
    if act.kind != CHANGE:
        return f"{_DESCRIPTIONS[act.kind].format(_subject(notebook, act))}{reason}"
    with notebook.database.opened() as connection:
        ops = History(connection).ops(act.n)
    names = [visible(op.path) for op in ops]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    decided = f", with {proposals}" if (proposals := _proposals(act)) else ""
    return f"change of {shown}{reason}{decided}"


def _proposals(act: Act) -> str:
    """Return the number of proposals that an act applied or refused, in words; "" for none."""
    kinds = (Decision.ACCEPT, Decision.REFUSE)
    count = sum(decision in kinds for decision, _ in decided_in(act))
    return "" if not count else "1 proposal" if count == 1 else f"{count} proposals"


def _subject(notebook: Notebook, act: Act) -> str:
    """Return what a decision is about: the path of a note, or the number of proposals. The subject
    of a decision on an arrival has the numbers of act and op.
    """
    if act.kind == Decision.REFUSE:
        return _proposals(act)
    if act.kind not in (Decision.KEEP, Decision.SNOOZE):
        return visible(act.subject)
    number, _, n = act.subject.partition(".")
    with notebook.database.opened() as connection:
        return visible(History(connection).ops(int(number))[int(n)].path)
