"""The transactional writer, the only way to change files of a memory.

A change set is checked, journalled, applied file by file, and recorded. The journal is on disk
before the first file changes: a process killed at any point leaves a change set that the next one
completes, or reverts if another program wrote meanwhile. Source of the protocol: write-ahead
logging with redo; the exchange of names closes the gap between a check and a rename.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from ricordo.errors import ChangeRefused, MemoryUnreadable, WriteFailed
from ricordo.memory.change import USER, Author, AuthorRole, ChangeSet, Edit
from ricordo.storage import system_calls as calls
from ricordo.storage.database import Database, reserve_pages, transaction
from ricordo.storage.decisions import format_subject
from ricordo.storage.history import History
from ricordo.storage.jail import OpenRoot
from ricordo.storage.journal import JournalReplay, ReplayOperation
from ricordo.storage.lock import state_lock, wait_for_agents
from ricordo.storage.operation import CHANGE, SEEN, FileOperation, HistoryEntry, Root
from ricordo.text import make_visible


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of a change set that is completely on disk."""

    act: int
    """The number of the act in the history."""
    token: str
    """Its id, which stays unique if a damaged history is replaced and numbers start again."""


@dataclass(frozen=True, slots=True)
class EditConflict:
    """A file whose content is not the one that the change set expects."""

    edit: Edit
    current: bytes | None
    """Its current content; None if it is missing."""


@dataclass(frozen=True, slots=True)
class ApplyConflict:
    """The result if another program changed the files; no edit of the change set was made."""

    edit_conflicts: tuple[EditConflict, ...]
    open_files: tuple[str, ...] = ()
    """Paths of files that another program has open for writing."""
    unmerged: tuple[str, ...] = ()
    """Paths of files to which two other programs wrote conflicting contents, one of which is only
    in the history.
    """


@dataclass(frozen=True, slots=True)
class RecoveryResult:
    """The results for interrupted acts, by number."""

    completed: tuple[int, ...] = ()
    reverted: tuple[int, ...] = ()
    pending: tuple[str, ...] = ()
    """Paths of memories that are missing, replaced or not writable; their acts are pending."""


@dataclass(frozen=True, slots=True)
class ChangePurpose:
    """The record of a change set in the history: the kind of its act, author and reason."""

    at: datetime
    kind: str = CHANGE
    author: Author = USER
    reason: str = ""
    undoes: int | None = None
    memory: str = ""
    """Path of the memory in whose history it is recorded; "" for the root of the first edit."""


class Writer:
    """Applies change sets, and recovers interrupted ones."""

    def __init__(self, database: Database) -> None:
        """Set the history in which all changes are recorded."""
        self._database = database

    def apply(
        self, change_set: ChangeSet, purpose: ChangePurpose, *, by_hand: bool = True
    ) -> Applied | ApplyConflict:
        """Apply `change_set`, all of it or nothing.

        If the file system cannot exchange two names, writes of other programs can be lost for an
        instant: then only changes that the user makes `by_hand` are applied. Raises ChangeRefused,
        WriteFailed, StateUnusable and Busy; no file was changed then.
        """
        if not change_set.edits:
            raise ChangeRefused("No changes.")
        if len({edit.key for edit in change_set.edits}) < len(change_set.edits):
            raise ChangeRefused("A change set may change each file only once.")
        for memory in {edit.root for edit in change_set.edits if not edit.is_single_file}:
            self._database.check_location(memory)
        for root in {edit.root for edit in change_set.edits}:
            wait_for_agents(root)
        with state_lock(self._database.state), self._database.connect() as connection:
            history = History(connection)
            with _roots(change_set.edits) as roots:
                work = _Work(history, purpose.at, roots)
                work.recover_unfinished()
                return work.apply(change_set, purpose, by_hand=by_hand)

    def recover(self, at: datetime) -> RecoveryResult:
        """Complete or revert interrupted acts. Raises StateUnusable and Busy."""
        if not self._database.exists:
            return RecoveryResult()
        with self._database.connect() as connection:
            if not History(connection).list_unfinished():
                return RecoveryResult()
        with state_lock(self._database.state), self._database.connect() as connection:
            return _Work(History(connection), at, {}).recover_unfinished()


@contextmanager
def _roots(edits: Sequence[Edit]) -> Iterator[dict[tuple[str, str], OpenRoot]]:
    """Open every directory that `edits` name; close them at the end."""
    held: dict[tuple[str, str], OpenRoot] = {}
    try:
        for edit in edits:
            only = edit.path if edit.is_single_file else ""
            if (edit.root, only) not in held:
                held[edit.root, only] = _hold(edit.root, only)
        yield held
    finally:
        for root in held.values():
            root.close()


def _hold(path: str, only: str) -> OpenRoot:
    try:
        return OpenRoot(path, only)
    except OSError as error:
        raise WriteFailed(f"{make_visible(path)} cannot be opened: {error.strerror}.") from None


@dataclass(slots=True)
class _Work:
    """The work under one hold of the lock."""

    history: History
    at: datetime
    roots: dict[tuple[str, str], OpenRoot]
    """The roots of the change set, by path and the one name that may be written."""
    stuck: dict[str, WriteFailed] = field(default_factory=dict)
    """Why interrupted acts can be neither completed nor reverted, by path of the root."""

    def apply(
        self, change_set: ChangeSet, purpose: ChangePurpose, *, by_hand: bool
    ) -> Applied | ApplyConflict:
        edits = change_set.edits
        try:
            edit_conflicts = self._find_conflicts(edits)
            if edit_conflicts:
                return ApplyConflict(edit_conflicts)
            self._check(edits, by_hand=by_hand)
            act = self._journal(change_set, purpose)
        except OSError as error:
            raise WriteFailed(f"The files cannot be read: {error.strerror or error}.") from None
        except MemoryUnreadable as unreadable:
            raise WriteFailed(unreadable.message) from None
        operations = [
            ReplayOperation(n, op, self._root_of(edit))
            for n, (edit, op) in enumerate(
                zip(edits, self.history.list_operations(act.n), strict=True)
            )
        ]
        replay = JournalReplay(self.history, self.at.isoformat(), act, operations)
        if replay.run():
            return Applied(act.n, act.token)
        open_files, unmerged = (
            tuple(dict.fromkeys(paths)) for paths in (replay.open_files, replay.unmerged)
        )
        return ApplyConflict(self._find_conflicts(edits), open_files, unmerged)

    def recover_unfinished(self) -> RecoveryResult:
        """Complete or revert every interrupted act."""
        completed: list[int] = []
        reverted: list[int] = []
        pending: list[str] = []
        for act in self.history.list_unfinished():
            try:
                with self._open_operations(act) as operations:
                    replay = JournalReplay(self.history, self.at.isoformat(), act, operations)
                    is_completed = replay.run()
            except _RootMissing as missing:
                pending.append(missing.path)
            except WriteFailed as failed:
                if not self._is_unfinished(act):
                    reverted.append(act.n)
                    continue
                roots = {op.root for op in self.history.list_operations(act.n)}
                paths = {self.history.get_root(root).path for root in roots}
                self.stuck |= dict.fromkeys(paths, failed)
                pending.extend(sorted(paths))
            else:
                (completed if is_completed else reverted).append(act.n)
        return RecoveryResult(tuple(completed), tuple(reverted), tuple(dict.fromkeys(pending)))

    def _is_unfinished(self, act: HistoryEntry) -> bool:
        return any(act.n == other.n for other in self.history.list_unfinished())

    def _check(self, edits: Sequence[Edit], *, by_hand: bool) -> None:
        """Refuse edits that cannot be applied, before they are journalled."""
        for root in self.roots.values():
            if root.path in self.stuck:
                raise WriteFailed(
                    f"An interrupted change of {make_visible(root.path)} must be completed first. "
                    f"{self.stuck[root.path].message}"
                )
        for edit in edits:
            self._root_of(edit).check_writable(edit.path)
        for root in self.roots.values():
            if not by_hand and not root.can_exchange():
                raise ChangeRefused(
                    f"The file system of {make_visible(root.path)} cannot exchange files "
                    "atomically. Make this change yourself in the notebook."
                )

    def _root_of(self, edit: Edit) -> OpenRoot:
        return self.roots[edit.root, edit.path if edit.is_single_file else ""]

    def _find_conflicts(self, edits: Sequence[Edit]) -> tuple[EditConflict, ...]:
        contents = ((edit, self._read_current(edit)) for edit in edits)
        return tuple(EditConflict(edit, now) for edit, now in contents if now != edit.before)

    def _read_current(self, edit: Edit) -> bytes | None:
        try:
            return self._root_of(edit).read(edit.path)
        except OSError as error:
            raise WriteFailed(
                f"{make_visible(edit.path)} cannot be read: {error.strerror}."
            ) from None

    def _journal(self, change_set: ChangeSet, purpose: ChangePurpose) -> HistoryEntry:
        """Write all operations to the journal: from here on they survive a crash.

        The act is in state `refused` until disk space for its completion is reserved.
        """
        history = self.history
        at = purpose.at.isoformat()
        calls.before("journal")
        with transaction(history.db):
            ids = {root.path: self._id_of(root) for root in self.roots.values()}
            ops = [
                FileOperation(
                    ids[edit.root],
                    edit.path,
                    history.store_content(edit.before),
                    history.store_content(edit.after),
                    from_root=ids.get(edit.moved_from_root or edit.root, ""),
                    from_path=edit.moved_from,
                    single=edit.is_single_file,
                    mode=self._mode(edit, purpose.undoes),
                )
                for edit in change_set.edits
            ]
            self._record_unseen(ops, at)
            memory = history.ensure_root(purpose.memory).id if purpose.memory else ops[0].root
            number = history.add_entry(
                memory,
                at,
                purpose.kind,
                subject=format_subject(change_set),
                author=purpose.author,
                reason=purpose.reason or change_set.reason,
                state="refused",
                undoes=purpose.undoes,
                token=secrets.token_hex(4),
            )
            history.add_operations(number, ops)
        with transaction(history.db):
            reserve_pages(history.db, history.count_pages_to_finish(len(ops)))
            history.set_state(number, "prepared")
        calls.before("journalled")
        act = history.get_entry(number)
        assert act is not None
        return act

    def _mode(self, edit: Edit, undoes: int | None) -> int | None:
        """Return the permissions of the file, or those before it was moved or deleted."""
        if edit.before is not None:
            return self._root_of(edit).read_mode(edit.path)
        origin = self.roots.get((edit.moved_from_root or edit.root, ""))
        if edit.moved_from and origin:
            return origin.read_mode(edit.moved_from)
        undone_ops = self.history.list_operations(undoes) if undoes else ()
        return next((op.mode for op in undone_ops if op.path == edit.path), None)

    def _id_of(self, held: OpenRoot) -> str:
        root = self.history.ensure_root(held.path)
        if (root.device, root.inode) != held.identity:
            device, inode = held.identity
            self.history.update_root(Root(root.id, root.path, device, inode))
        return root.id

    def _record_unseen(self, ops: Sequence[FileOperation], at: str) -> None:
        """Record versions that another program wrote since the last reading as written by it."""
        unseen: dict[str, list[FileOperation]] = {}
        heads = {op.root: self.history.list_known_contents(op.root) for op in ops if not op.single}
        for op in ops:
            if op.root in heads and heads[op.root].get(op.path) != op.pre:
                last = self.history.list_stored_contents(op.root).get(op.path)
                unseen.setdefault(op.root, []).append(FileOperation(op.root, op.path, last, op.pre))
        for root, theirs in unseen.items():
            act = self.history.add_entry(root, at, SEEN, author=Author(AuthorRole.OUTSIDE))
            self.history.add_operations(act, theirs)

    @contextmanager
    def _open_operations(self, act: HistoryEntry) -> Iterator[list[ReplayOperation]]:
        """Open the directories of an interrupted act; yield its operations. Raises _RootMissing."""
        held: dict[tuple[str, str], OpenRoot] = {}
        try:
            operations: list[ReplayOperation] = []
            for n, op in enumerate(self.history.list_operations(act.n)):
                key = op.root, op.path if op.single else ""
                if key not in held:
                    held[key] = self._reopen(*key)
                operations.append(ReplayOperation(n, op, held[key]))
            yield operations
        finally:
            for root in held.values():
                root.close()

    def _reopen(self, root_id: str, only: str) -> OpenRoot:
        root = self.history.get_root(root_id)
        try:
            held = OpenRoot(root.path, only)
        except OSError:
            raise _RootMissing(root.path) from None
        if held.identity != (root.device, root.inode):
            held.close()
            raise _RootMissing(root.path)
        held.remove_test_files()
        return held


class _RootMissing(Exception):
    """A root does not exist, or another directory is at its path."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path
