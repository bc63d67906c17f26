"""The one door through which files of a memory change.

A set of edits is checked, journalled, carried out file by file, and recorded. The journal is on
the disk before the first file changes: a process that is cut off anywhere leaves a set that the
next one completes, or takes back where somebody else wrote meanwhile. Source of the protocol:
write-ahead logging with redo; the exchange of names closes the gap that a check before a rename
leaves open.
"""

from __future__ import annotations

import os
import secrets
import signal
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from ricordo.disk import calls
from ricordo.disk.consolidation import wait_for_agents
from ricordo.disk.database import Database, transaction
from ricordo.disk.held_root import HeldRoot
from ricordo.disk.history import CHANGE, SEEN, Act, History, Op, Root
from ricordo.disk.lock import state_lock
from ricordo.disk.swap import Swap
from ricordo.errors import ChangeRefused, StateUnusable, WriteFailed
from ricordo.memory.change import PERSON, Author, Role
from ricordo.memory.change_set import ChangeSet, Edit, digest
from ricordo.text import visible

TEMPORARY = ".ricordo-tmp-"
"""How the names of files begin that exist while a set is carried out."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LATER = "What was begun is in the journal: the next start completes it or takes it back."


@dataclass(frozen=True, slots=True)
class Applied:
    """All of the set is on the disk."""

    act: int
    """The act in the history."""


@dataclass(frozen=True, slots=True)
class Clash:
    """A file that is not what the set was made against."""

    edit: Edit
    now: bytes | None
    """What it holds now; None where it is gone."""


@dataclass(frozen=True, slots=True)
class Clashed:
    """Somebody else changed files meanwhile; nothing of the set is on the disk."""

    clashes: tuple[Clash, ...]


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of the acts that were cut off."""

    completed: tuple[int, ...] = ()
    taken_back: tuple[int, ...] = ()
    waiting: tuple[str, ...] = ()
    """Paths of memories that are not there, or are others than they were; their acts wait."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a set is applied for: the kind of its act and what the history tells of it."""

    at: datetime
    kind: str = CHANGE
    author: Author = PERSON
    reason: str = ""
    undoes: int | None = None


class Door:
    """Applies sets of edits, and recovers what was cut off."""

    def __init__(self, database: Database) -> None:
        """`database` is the history in which everything is recorded."""
        self._database = database

    def apply(
        self, change_set: ChangeSet, purpose: Purpose, *, by_hand: bool = True
    ) -> Applied | Clashed:
        """Carry out `change_set`, all of it or nothing.

        Where the file system cannot exchange two names, an instant stays in which others' writes
        can be lost: there only what a person asks for `by_hand` is done. Raises ChangeRefused,
        WriteFailed, StateUnusable and Busy; nothing was changed then.
        """
        if not change_set.edits:
            raise ChangeRefused("There is nothing to change.")
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
class _Step:
    """One op of an act, with the directory in which it works."""

    n: int
    op: Op
    root: HeldRoot


@dataclass(slots=True)
class _Work:
    """One hold of the lock."""

    history: History
    at: datetime
    roots: dict[tuple[str, str], HeldRoot]
    """Those of the set that is applied, by path and the one name that may be touched."""

    def apply(self, change_set: ChangeSet, purpose: Purpose, *, by_hand: bool) -> Applied | Clashed:
        edits = change_set.edits
        for root in self.roots.values():
            wait_for_agents(root.path)
            if not by_hand and not root.can_exchange():
                raise ChangeRefused(
                    f"The file system of {visible(root.path)} cannot exchange two files in one "
                    "step, so nothing is written there without a person at the notebook."
                )
        clashes = self._clashes(edits)
        if clashes:
            return Clashed(clashes)
        for edit in edits:
            self._root_of(edit).check_writable(edit.path)
        act = self._journal(change_set, purpose)
        steps = [
            _Step(n, op, self._root_of(edit))
            for n, (edit, op) in enumerate(zip(edits, self.history.ops(act.n), strict=True))
        ]
        if self._carry_out(act, steps):
            return Applied(act.n)
        return Clashed(self._clashes(edits))

    def recover_unfinished(self) -> Recovered:
        """Complete every act that was cut off, or take it back."""
        completed: list[int] = []
        taken_back: list[int] = []
        waiting: list[str] = []
        for act in self.history.unfinished():
            try:
                with self._steps_of(act) as steps:
                    done = self._carry_out(act, steps)
            except _Elsewhere as elsewhere:
                waiting.append(elsewhere.path)
                continue
            (completed if done else taken_back).append(act.n)
        return Recovered(tuple(completed), tuple(taken_back), tuple(dict.fromkeys(waiting)))

    def _root_of(self, edit: Edit) -> HeldRoot:
        return self.roots[edit.root, edit.path if edit.is_single_file else ""]

    def _clashes(self, edits: Sequence[Edit]) -> tuple[Clash, ...]:
        found = ((edit, self._now(edit)) for edit in edits)
        return tuple(Clash(edit, now) for edit, now in found if now != edit.before)

    def _now(self, edit: Edit) -> bytes | None:
        try:
            return self._root_of(edit).read(edit.path)
        except OSError as error:
            raise WriteFailed(f"{visible(edit.path)} cannot be read: {error.strerror}.") from None

    def _journal(self, change_set: ChangeSet, purpose: Purpose) -> Act:
        """Write down all that will be done: from here on it will be, whatever happens to us."""
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
                )
                for edit in change_set.edits
            ]
            self._keep_unseen(ops, at)
            number = history.begin(
                ops[0].root,
                at,
                purpose.kind,
                author=purpose.author,
                reason=purpose.reason or change_set.reason,
                state="prepared",
                undoes=purpose.undoes,
                token=secrets.token_hex(4),
            )
            history.add_ops(number, ops)
        calls.before("journalled")
        act = history.act(number)
        assert act is not None
        return act

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
            known = heads.get(op.root, {}).get(op.path)
            if op.root in heads and known != op.pre:
                unseen.setdefault(op.root, []).append(Op(op.root, op.path, known, op.pre))
        for root, theirs in unseen.items():
            act = self.history.begin(root, at, SEEN, author=Author(Role.OUTSIDE))
            self.history.add_ops(act, theirs)

    @contextmanager
    def _steps_of(self, act: Act) -> Iterator[list[_Step]]:
        """Open what an act that was cut off works in. Raises _Elsewhere."""
        held: dict[tuple[str, str], HeldRoot] = {}
        try:
            steps: list[_Step] = []
            for n, op in enumerate(self.history.ops(act.n)):
                key = op.root, op.path if op.single else ""
                if key not in held:
                    held[key] = self._reopen(*key)
                steps.append(_Step(n, op, held[key]))
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
        return held

    def _carry_out(self, act: Act, steps: list[_Step]) -> bool:
        """Do what a journalled act says, or take it back; say whether it is done."""
        with _uninterrupted():
            try:
                if act.state == "prepared" and self._complete(act, steps):
                    return True
                self._take_back(act, steps)
            except sqlite3.Error as error:
                raise StateUnusable(
                    f"The history cannot be written: {error}.", changed=_LATER
                ) from None
            return False

    def _complete(self, act: Act, steps: list[_Step]) -> bool:
        try:
            foreign = self._lead(act, steps, forward=True)
        except OSError as error:
            self._take_back(act, steps)
            raise WriteFailed(f"The files cannot be written: {error.strerror}.") from None
        if foreign:
            return False
        self._finish(act, steps, "done")
        return True

    def _take_back(self, act: Act, steps: list[_Step]) -> None:
        """Lead every file back to what it was; where somebody else wrote, their text stays."""
        with transaction(self.history.db):
            self.history.set_state(act.n, "reverting")
        try:
            foreign = self._lead(act, steps, forward=False)
        except OSError as error:
            raise WriteFailed(
                f"Files cannot be written: {error.strerror}.", changed=_LATER
            ) from None
        for n in foreign:
            self.history.set_outcome(act.n, n, "conflict")
        self._finish(act, steps, "refused")

    def _finish(self, act: Act, steps: list[_Step], state: str) -> None:
        calls.before("finish")
        with transaction(self.history.db):
            for step in steps:
                if state == "done" and not step.op.single:
                    self.history.set_head(step.op.root, step.op.path, step.op.post)
            self.history.set_state(act.n, state)
        calls.before("finished")

    def _lead(self, act: Act, steps: list[_Step], *, forward: bool) -> list[int]:
        """Lead every file to its content after the act, or back to that before it; return the
        numbers of those that hold neither.

        Forward, one of those is enough for the others to be left where they are.
        """
        ways: list[tuple[_Step, Swap]] = []
        foreign: list[int] = []
        try:
            for step in steps:
                swap = self._swap(act, step, forward=forward)
                swap.clear()
                now = digest(step.root.read(step.op.path))
                if now == swap.pre and now != swap.post:
                    ways.append((step, swap))
                    if swap.post is not None:
                        swap.stage(self._content(swap.post))
                elif now != swap.post:
                    foreign.append(step.n)
            if not (forward and foreign):
                for step, swap in ways:
                    if not swap.make(by_exchange=step.root.can_exchange()):
                        foreign.append(step.n)
                        if forward:
                            break
        finally:
            for _, swap in ways:
                swap.clear()
        self._sync(step for step, _ in ways)
        return foreign

    def _sync(self, steps: Iterable[_Step]) -> None:
        """Wait until the names in every folder that was worked in are on the disk."""
        folders = {(step.op.root, os.path.dirname(step.op.path)): step for step in steps}
        for step in folders.values():
            with step.root.folder_of(step.op.path) as (folder, _):
                calls.sync_folder(folder)

    def _content(self, sha: str) -> bytes:
        content = self.history.content(sha)
        assert content is not None
        return content

    def _swap(self, act: Act, step: _Step, *, forward: bool) -> Swap:
        op = step.op

        def keep(content: bytes) -> None:
            self.history.keep_displaced(op.root, op.path, content, self.at.isoformat())

        start, goal = (op.pre, op.post) if forward else (op.post, op.pre)
        return Swap(step.root, op.path, start, goal, f"{TEMPORARY}{act.token}-{step.n}", keep)


class _Elsewhere(Exception):
    """A root is not there, or another directory stands at its path."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let signals that would end the process wait until a set is carried out."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
