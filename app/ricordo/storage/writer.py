"""The one door through which files of a memory change.

A set of edits is checked, journalled, carried out file by file, and recorded. The journal is on
the disk before the first file changes: a process that is cut off anywhere leaves a set that the
next one completes, or takes back where somebody else wrote meanwhile. Source of the protocol:
write-ahead logging with redo; the exchange of names closes the gap that a check before a rename
leaves open.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from ricordo.errors import ChangeRefused, MemoryUnreadable, WriteFailed
from ricordo.memory.change import PERSON, Author, AuthorRole, ChangeSet, Edit
from ricordo.storage import system_calls as calls
from ricordo.storage.database import Database, reserve_pages, transaction
from ricordo.storage.decisions import subject_of_change
from ricordo.storage.history import History
from ricordo.storage.jail import HeldRoot
from ricordo.storage.journal import JournalReplay, ReplayOperation
from ricordo.storage.lock import state_lock, wait_for_agents
from ricordo.storage.operation import CHANGE, SEEN, Act, Op, Root
from ricordo.text import visible


@dataclass(frozen=True, slots=True)
class Applied:
    """All of the set is on the disk."""

    act: int
    """The act in the history."""
    token: str
    """What names it whatever becomes of the history: its number is another act's, once a history
    that was damaged was begun anew."""


@dataclass(frozen=True, slots=True)
class EditConflict:
    """A file that is not what the set was made against."""

    edit: Edit
    now: bytes | None
    """What it holds now; None where it is gone."""


@dataclass(frozen=True, slots=True)
class EditsConflict:
    """Somebody else changed files meanwhile; nothing of the set is on the disk."""

    clashes: tuple[EditConflict, ...]
    open_files: tuple[str, ...] = ()
    """Paths of files that another program has open for writing."""
    conflicts: tuple[str, ...] = ()
    """Paths of files to which two other programs wrote what cannot be merged: one content is in the
    history only.
    """


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of the acts that were cut off."""

    completed: tuple[int, ...] = ()
    taken_back: tuple[int, ...] = ()
    waiting: tuple[str, ...] = ()
    """Paths of memories that are not there, or are others than they were, or cannot be written;
    their acts wait."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a set is applied for: the kind of its act and what the history tells of it."""

    at: datetime
    kind: str = CHANGE
    author: Author = PERSON
    reason: str = ""
    undoes: int | None = None
    memory: str = ""
    """Path of the memory in whose history it is told; "" for the root of the first edit."""


class Writer:
    """Applies sets of edits, and recovers what was cut off."""

    def __init__(self, database: Database) -> None:
        """`database` is the history in which everything is recorded."""
        self._database = database

    def apply(
        self, change_set: ChangeSet, purpose: Purpose, *, by_hand: bool = True
    ) -> Applied | EditsConflict:
        """Carry out `change_set`, all of it or nothing.

        Where the file system cannot exchange two names, an instant stays in which others' writes
        can be lost: there only what a person asks for `by_hand` is done. Raises ChangeRefused,
        WriteFailed, StateUnusable and Busy; nothing was changed then.
        """
        if not change_set.edits:
            raise ChangeRefused("There is nothing to change.")
        if len({edit.key for edit in change_set.edits}) < len(change_set.edits):
            raise ChangeRefused("A set may change a file only once.")
        for memory in {edit.root for edit in change_set.edits if not edit.is_single_file}:
            self._database.check_place(memory)
        for root in {edit.root for edit in change_set.edits}:
            wait_for_agents(root)
        with state_lock(self._database.state), self._database.opened() as connection:
            history = History(connection)
            with _roots(change_set.edits) as roots:
                work = _Work(history, purpose.at, roots)
                work.recover_unfinished()
                return work.apply(change_set, purpose, by_hand=by_hand)

    def recover(self, at: datetime) -> Recovered:
        """Complete or take back what was cut off. Raises StateUnusable and Busy."""
        if not self._database.exists:
            return Recovered()
        with self._database.opened() as connection:
            if not History(connection).unfinished():
                return Recovered()
        with state_lock(self._database.state), self._database.opened() as connection:
            return _Work(History(connection), at, {}).recover_unfinished()


@contextmanager
def _roots(edits: Sequence[Edit]) -> Iterator[dict[tuple[str, str], HeldRoot]]:
    """Hold every directory that `edits` name."""
    held: dict[tuple[str, str], HeldRoot] = {}
    try:
        for edit in edits:
            only = edit.path if edit.is_single_file else ""
            if (edit.root, only) not in held:
                held[edit.root, only] = _hold(edit.root, only)
        yield held
    finally:
        for root in held.values():
            root.close()


def _hold(path: str, only: str) -> HeldRoot:
    try:
        return HeldRoot(path, only)
    except OSError as error:
        raise WriteFailed(f"{visible(path)} cannot be opened: {error.strerror}.") from None


@dataclass(slots=True)
class _Work:
    """One hold of the lock."""

    history: History
    at: datetime
    roots: dict[tuple[str, str], HeldRoot]
    """Those of the set that is applied, by path and the one name that may be touched."""
    stuck: dict[str, WriteFailed] = field(default_factory=dict)
    """Why acts that were cut off can be neither completed nor taken back, by path of the root."""

    def apply(
        self, change_set: ChangeSet, purpose: Purpose, *, by_hand: bool
    ) -> Applied | EditsConflict:
        edits = change_set.edits
        try:
            clashes = self._clashes(edits)
            if clashes:
                return EditsConflict(clashes)
            self._check(edits, by_hand=by_hand)
            act = self._journal(change_set, purpose)
        except OSError as error:
            raise WriteFailed(f"The files cannot be reached: {error.strerror or error}.") from None
        except MemoryUnreadable as gone:
            raise WriteFailed(gone.message) from None
        steps = [
            ReplayOperation(n, op, self._root_of(edit))
            for n, (edit, op) in enumerate(zip(edits, self.history.ops(act.n), strict=True))
        ]
        carrier = JournalReplay(self.history, self.at.isoformat(), act, steps)
        if carrier.carry_out():
            return Applied(act.n, act.token)
        found = [tuple(dict.fromkeys(paths)) for paths in (carrier.open_files, carrier.conflicts)]
        return EditsConflict(self._clashes(edits), *found)

    def recover_unfinished(self) -> Recovered:
        """Complete every act that was cut off, or take it back."""
        completed: list[int] = []
        taken_back: list[int] = []
        waiting: list[str] = []
        for act in self.history.unfinished():
            try:
                with self._steps_of(act) as steps:
                    done = JournalReplay(self.history, self.at.isoformat(), act, steps).carry_out()
            except _Elsewhere as elsewhere:
                waiting.append(elsewhere.path)
            except WriteFailed as failed:
                if not self._is_unfinished(act):
                    taken_back.append(act.n)
                    continue
                roots = {op.root for op in self.history.ops(act.n)}
                paths = {self.history.root_of_id(root).path for root in roots}
                self.stuck |= dict.fromkeys(paths, failed)
                waiting.extend(sorted(paths))
            else:
                (completed if done else taken_back).append(act.n)
        return Recovered(tuple(completed), tuple(taken_back), tuple(dict.fromkeys(waiting)))

    def _is_unfinished(self, act: Act) -> bool:
        return any(act.n == other.n for other in self.history.unfinished())

    def _check(self, edits: Sequence[Edit], *, by_hand: bool) -> None:
        """Refuse, before anything is written down, what cannot be carried out."""
        for root in self.roots.values():
            if root.path in self.stuck:
                raise WriteFailed(
                    f"A change of {visible(root.path)} that was cut off has to be completed first. "
                    f"{self.stuck[root.path].message}"
                )
        for edit in edits:
            self._root_of(edit).check_writable(edit.path)
        for root in self.roots.values():
            if not by_hand and not root.can_exchange():
                raise ChangeRefused(
                    f"The file system of {visible(root.path)} cannot exchange two files in one "
                    "step, so nothing is written there without a person at the notebook."
                )

    def _root_of(self, edit: Edit) -> HeldRoot:
        return self.roots[edit.root, edit.path if edit.is_single_file else ""]

    def _clashes(self, edits: Sequence[Edit]) -> tuple[EditConflict, ...]:
        found = ((edit, self._now(edit)) for edit in edits)
        return tuple(EditConflict(edit, now) for edit, now in found if now != edit.before)

    def _now(self, edit: Edit) -> bytes | None:
        try:
            return self._root_of(edit).read(edit.path)
        except OSError as error:
            raise WriteFailed(f"{visible(edit.path)} cannot be read: {error.strerror}.") from None

    def _journal(self, change_set: ChangeSet, purpose: Purpose) -> Act:
        """Write down all that will be done: from here on it will be, whatever happens to us.

        First as what is not done: only once there is room to write down its end too, it counts.
        """
        history = self.history
        at = purpose.at.isoformat()
        calls.before("journal")
        with transaction(history.db):
            ids = {root.path: self._id_of(root) for root in self.roots.values()}
            ops = [
                Op(
                    ids[edit.root],
                    edit.path,
                    history.keep(edit.before),
                    history.keep(edit.after),
                    from_root=ids.get(edit.moved_from_root or edit.root, ""),
                    from_path=edit.moved_from,
                    single=edit.is_single_file,
                    mode=self._mode(edit, purpose.undoes),
                )
                for edit in change_set.edits
            ]
            self._keep_unseen(ops, at)
            memory = history.root(purpose.memory).id if purpose.memory else ops[0].root
            number = history.begin(
                memory,
                at,
                purpose.kind,
                subject=subject_of_change(
                    change_set.dismisses, change_set.accepts, change_set.confirms
                ),
                author=purpose.author,
                reason=purpose.reason or change_set.reason,
                state="refused",
                undoes=purpose.undoes,
                token=secrets.token_hex(4),
            )
            history.add_ops(number, ops)
        with transaction(history.db):
            reserve_pages(history.db, history.pages_to_finish(len(ops)))
            history.set_state(number, "prepared")
        calls.before("journalled")
        act = history.act(number)
        assert act is not None
        return act

    def _mode(self, edit: Edit, undoes: int | None) -> int | None:
        """Return the permissions that the file has, or had before it was moved or deleted."""
        if edit.before is not None:
            return self._root_of(edit).mode(edit.path)
        origin = self.roots.get((edit.moved_from_root or edit.root, ""))
        if edit.moved_from and origin:
            return origin.mode(edit.moved_from)
        undone = self.history.ops(undoes) if undoes else ()
        return next((op.mode for op in undone if op.path == edit.path), None)

    def _id_of(self, held: HeldRoot) -> str:
        root = self.history.root(held.path)
        if (root.device, root.inode) != held.identity:
            device, inode = held.identity
            self.history.stands_elsewhere(Root(root.id, root.path, device, inode))
        return root.id

    def _keep_unseen(self, ops: Sequence[Op], at: str) -> None:
        """Keep versions that somebody wrote since we looked last as theirs, not as ours."""
        unseen: dict[str, list[Op]] = {}
        heads = {op.root: self.history.heads(op.root) for op in ops if not op.single}
        for op in ops:
            if op.root in heads and heads[op.root].get(op.path) != op.pre:
                known = self.history.kept_heads(op.root).get(op.path)
                unseen.setdefault(op.root, []).append(Op(op.root, op.path, known, op.pre))
        for root, theirs in unseen.items():
            act = self.history.begin(root, at, SEEN, author=Author(AuthorRole.OUTSIDE))
            self.history.add_ops(act, theirs)

    @contextmanager
    def _steps_of(self, act: Act) -> Iterator[list[ReplayOperation]]:
        """Open what an act that was cut off works in. Raises _Elsewhere."""
        held: dict[tuple[str, str], HeldRoot] = {}
        try:
            steps: list[ReplayOperation] = []
            for n, op in enumerate(self.history.ops(act.n)):
                key = op.root, op.path if op.single else ""
                if key not in held:
                    held[key] = self._reopen(*key)
                steps.append(ReplayOperation(n, op, held[key]))
            yield steps
        finally:
            for root in held.values():
                root.close()

    def _reopen(self, root_id: str, only: str) -> HeldRoot:
        root = self.history.root_of_id(root_id)
        try:
            held = HeldRoot(root.path, only)
        except OSError:
            raise _Elsewhere(root.path) from None
        if held.identity != (root.device, root.inode):
            held.close()
            raise _Elsewhere(root.path)
        held.remove_tries()
        return held


class _Elsewhere(Exception):
    """A root is not there, or another directory stands at its path."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path
