"""Undo and redo: the last act, be it a change of files or a decision, is taken back; the files
may have been changed since, then what would come out is merged and seen first.

An act that cannot be taken back is told once. From then on the act before it is the next, as long
as it cannot.
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
"""The kind of an act that takes back a decision, or a taking back."""
_PASSED_OVER = "passed over"
"""The kind of an act that tells of another one, its subject, that it could not be taken back."""
_LONGEST_REASON = 80
"""Cells."""
_UNDOABLE = frozenset(
    (CHANGE, UNDONE, *(it.value for it in Decision), *(it.value for it in ReviewVerdict))
)

_IN_WORDS: Mapping[str, str] = {
    Decision.DISMISS: "dismissal of a finding",
    Decision.STAND: "end of a dismissal",
    Decision.KEEP: "keeping of what others did to {}",
    Decision.SNOOZE: "putting off of what others did to {}",
    Decision.PROTECT: "protection of {}",
    Decision.FREE: "end of the protection of {}",
    Decision.ALLOW: "leave for a value to go to models",
    Decision.WITHHOLD: "end of the leave for a value to go to models",
    Decision.REFUSE: "refusal of {}",
    ReviewVerdict.TRUE: "“still true” of {}",
    ReviewVerdict.WRONG: "“wrong” of {}",
    ReviewVerdict.LATER: "“later” of {}",
}
"""What a decision is called; the path of the file that it is about is in it."""


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What was undone or redone."""

    told: str
    """The act in words: `change of feedback_testing.md (it was wrong)`."""
    edits: tuple[Edit, ...] = ()
    """What became of files."""
    subject: str = ""
    """What a decision was about: the path of a note, or the id of something else."""

    @property
    def about(self) -> frozenset[str]:
        """What it was about: paths of files, the subject of a decision."""
        return frozenset((*(edit.path for edit in self.edits), self.subject)) - {""}


@dataclass(frozen=True, slots=True)
class ToBeSeen:
    """Others wrote to the same files since: nothing was done yet."""

    told: str
    outcome: Merged | EditOverlap
    undoes: int
    """To be handed on when the merged set is applied."""


def undo(notebook: Notebook) -> UndoResult | ToBeSeen:
    """Take back the last act. Raises NothingToUndo, ChangeRefused, StateUnusable and Busy."""
    done, _ = _stacks(notebook)
    if not done:
        raise NothingToUndo("There is nothing to undo in this memory.")
    _refuse_impossible(notebook, done[-1], "undone", "undo" if done[1:] else "")
    return _turn(notebook, done[-1], done[-1].n, back=True)


def redo(notebook: Notebook) -> UndoResult | ToBeSeen:
    """Do again what was undone last. Raises what `undo` raises."""
    _, undone = _stacks(notebook)
    if not undone:
        raise NothingToUndo("There is nothing to redo in this memory.")
    act, by = undone[-1]
    _refuse_impossible(notebook, act, "done again", "redo" if undone[1:] else "")
    return _turn(notebook, act, by, back=False)


def can_take_back(notebook: Notebook) -> tuple[bool, bool]:
    """Say whether an act is left that can be undone, and one that can be redone, or of which it
    was not told yet that it cannot. Raises StateUnusable.
    """
    done, undone = _stacks(notebook)
    return bool(done), bool(undone)


def _stacks(notebook: Notebook) -> tuple[list[Act], list[tuple[Act, int]]]:
    """Return the acts that can be undone and those that can be redone, the last one last; the
    latter with the act that undid them. What was told to be impossible, and still is, is left out.
    """
    done: list[Act] = []
    undone: list[tuple[Act, int]] = []
    if not notebook.database.exists:
        return done, undone
    with notebook.database.opened() as connection:
        history = History(connection)
        root = history.known_root(notebook.place.root)
        acts = history.acts(root.id) if root else []
        told = {act.subject for act in acts if act.kind == _PASSED_OVER}
        passed = {act.n for act in acts if str(act.n) in told and _why_impossible(history, act)}
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
        [act for act in done if act.n not in passed],
        [(act, by) for act, by in undone if act.n not in passed],
    )


def _refuse_impossible(notebook: Notebook, act: Act, word: str, next_word: str) -> None:
    """Raise ChangeRefused where `act` cannot be `word`, undone or done again; `next_word` takes
    the next one from then on, "" where none is left.
    """
    with notebook.database.opened() as connection:
        history = History(connection)
        why = _why_impossible(history, act)
        if not why:
            return
        with transaction(connection):
            root = history.root(notebook.place.root).id
            now = notebook.surroundings.now.isoformat()
            history.begin(root, now, _PASSED_OVER, subject=str(act.n))
    follows = f" The next {next_word} passes it over." if next_word else ""
    raise ChangeRefused(
        f"{why} So the {tell(notebook, act)} cannot be {word}.{follows}",
        changed="No file was changed.",
    )


def _why_impossible(history: History, act: Act) -> str:
    """Return why an act can be neither undone nor redone, as a sentence; "" where it can."""
    ops = history.ops(act.n)
    for op in ops:
        if not (history.is_whole(op.pre) and history.is_whole(op.post)):
            return f"A text of {visible(op.path)} was purged or dropped from the history."
    roots = dict.fromkeys(root for op in ops for root in (op.root, op.from_root) if root)
    paths = (history.root_of_id(root).path for root in roots)
    return next((why for path in paths if (why := why_unreachable(path))), "")


def _turn(notebook: Notebook, act: Act, undoes: int, *, back: bool) -> UndoResult | ToBeSeen:
    told = tell(notebook, act)
    if act.kind != CHANGE:
        with notebook.database.opened() as connection, transaction(connection):
            now = notebook.surroundings.now.isoformat()
            History(connection).begin(act.root, now, UNDONE, undoes=undoes)
        return UndoResult(told, subject=act.subject)
    edits = _edits(notebook, act, back=back)
    reason = f"{'undo' if back else 'redo'} of {told}"
    change_set = ChangeSet(edits, tuple(Change(Rewrite(it.path, ""), reason) for it in edits))
    outcome = apply_or_merge(notebook, change_set, undoes=undoes)
    if isinstance(outcome, Applied):
        return UndoResult(told, change_set.edits)
    return ToBeSeen(told, outcome, undoes)


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
            of, origin = origins.get((op.root, op.path), (op.root, ""))
            elsewhere = history.root_of_id(of).path if of != op.root else ""
            edits.append(
                Edit(
                    root,
                    op.path,
                    before,
                    after,
                    moved_from=origin,
                    moved_from_root=elsewhere,
                    is_single_file=op.single,
                )
            )
    return effective(edits)


def _origins(ops: Sequence[Op], *, back: bool) -> dict[Place, Place]:
    """Return from where files come when `ops` are taken `back`, or done again, by where they go."""
    moves = [((op.from_root, op.from_path), (op.root, op.path)) for op in ops if op.from_path]
    return dict(moves) if back else {to: origin for origin, to in moves}


def tell(notebook: Notebook, act: Act) -> str:
    """Return an act in a short line, for a person who wants to know what was taken back."""
    reason = f" ({clip(act.reason, _LONGEST_REASON)})" if act.reason else ""
    if act.kind != CHANGE:
        return f"{_IN_WORDS[act.kind].format(_subject(notebook, act))}{reason}"
    with notebook.database.opened() as connection:
        ops = History(connection).ops(act.n)
    names = [visible(op.path) for op in ops]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    with_them = f", with {proposals}" if (proposals := _proposals(act)) else ""
    return f"change of {shown}{reason}{with_them}"


def _proposals(act: Act) -> str:
    """Return how many proposals an act applied or refused; "" for none."""
    kinds = (Decision.ACCEPT, Decision.REFUSE)
    count = sum(decision in kinds for decision, _ in decided_in(act))
    return "" if not count else "1 proposal" if count == 1 else f"{count} proposals"


def _subject(notebook: Notebook, act: Act) -> str:
    """Return the path that a decision is about; an arrival is named by the numbers of its act and
    op, proposals are counted.
    """
    if act.kind == Decision.REFUSE:
        return _proposals(act)
    if act.kind not in (Decision.KEEP, Decision.SNOOZE):
        return visible(act.subject)
    number, _, n = act.subject.partition(".")
    with notebook.database.opened() as connection:
        return visible(History(connection).ops(int(number))[int(n)].path)
