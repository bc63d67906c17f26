"""Replay an act from the journal: all of it, or nothing if that is impossible.

Every operation can be repeated: the content of a file shows whether it was done.
"""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from ricordo.errors import ChangeRefused, StateUnusable, WriteFailed
from ricordo.memory.change import compute_digest
from ricordo.memory.names import normalize
from ricordo.storage import system_calls as calls
from ricordo.storage.atomic_exchange import AtomicExchange, ExchangeResult
from ricordo.storage.database import transaction
from ricordo.storage.history import History
from ricordo.storage.jail import OpenRoot
from ricordo.storage.operation import FileOperation, HistoryEntry
from ricordo.text import make_visible

TEMPORARY = ".ricordo-tmp-"
"""The prefix of temporary files during a change."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LATER = "The change is in the journal: the next start completes or reverts it."
_NOT_REGULAR = ""
"""Used as the SHA-256 of something that is not a regular file: equal to none."""


@dataclass(frozen=True, slots=True)
class ReplayOperation:
    """One operation of an act, with the open directory of its file."""

    n: int
    op: FileOperation
    root: OpenRoot

    def read_digest(self) -> str | None:
        """Return the SHA-256 of the file's current content; None if it does not exist."""
        try:
            return compute_digest(self.root.read(self.op.path))
        except ChangeRefused:
            return _NOT_REGULAR


@dataclass(frozen=True, slots=True)
class JournalReplay:
    """Writes or restores the files of one act."""

    history: History
    at: str
    """ISO 8601, with time zone: the recorded time of other programs' contents."""
    act: HistoryEntry
    operations: Sequence[ReplayOperation]
    open_files: list[str] = field(default_factory=list)
    """Paths of files that were skipped because another program has them open for writing."""
    unmerged: list[str] = field(default_factory=list)
    """Paths of files with another program's content that is only in the history."""

    def run(self) -> bool:
        """Complete the act, or revert it; return whether it is completed.

        Raises WriteFailed if the system refuses to write, and StateUnusable.
        """
        with _defer_signals():
            try:
                if self.act.state == "prepared" and self._complete():
                    return True
                self._revert()
            except sqlite3.Error as error:
                raise StateUnusable(
                    f"The history cannot be written: {error}.", changed=_LATER
                ) from None
            return False

    def _complete(self) -> bool:
        try:
            foreign = self._replay(forward=True)
        except OSError as error:
            unreverted = self._revert()
            raise WriteFailed(
                f"The files cannot be written: {error.strerror or error}.",
                **_describe_unreverted(unreverted),
            ) from None
        if foreign:
            return False
        self._finish("done")
        return True

    def _revert(self) -> list[ReplayOperation]:
        """Restore every file; return the operations on files with another program's content."""
        with transaction(self.history.db):
            self.history.set_state(self.act.n, "reverting")
        try:
            foreign = self._replay(forward=False)
        except OSError as error:
            raise WriteFailed(
                f"The files cannot be written: {error.strerror or error}.", changed=_LATER
            ) from None
        self._finish("refused", foreign)
        return foreign

    def _finish(self, state: str, foreign: Sequence[ReplayOperation] = ()) -> None:
        calls.before("finish")
        with transaction(self.history.db):
            for operation in self.operations:
                op = operation.op
                if state == "done" and not op.single:
                    self.history.set_known_content(op.root, op.path, op.post)
            for operation in foreign:
                self.history.set_outcome(self.act.n, operation.n, "conflict")
            self.history.set_state(self.act.n, state)
        calls.before("finished")

    def _replay(self, *, forward: bool) -> list[ReplayOperation]:
        """Give every file its content after the act, or restore that before it; return the
        operations whose files have neither.

        Forward, one of those stops the replay.
        """
        exchanges = [(step, self._exchange_for(step, forward=forward)) for step in self.operations]
        unfinished = {operation.n: exchange for operation, exchange in exchanges}
        ready: list[tuple[ReplayOperation, AtomicExchange]] = []
        foreign: list[ReplayOperation] = []
        try:
            for operation, exchange in exchanges:
                exchange.clear()
                current = operation.read_digest()
                if current == exchange.post:
                    del unfinished[operation.n]
                elif current == exchange.pre and self._stage(exchange):
                    ready.append((operation, exchange))
                else:
                    foreign.append(operation)
            watched: list[tuple[ReplayOperation, AtomicExchange]] = []
            for operation, exchange in () if forward and foreign else _in_order(ready):
                result = _make(exchange)
                if result is ExchangeResult.DONE:
                    del unfinished[operation.n]
                elif result is ExchangeResult.WATCHED:
                    watched.append((operation, exchange))
                else:
                    if result is ExchangeResult.OPEN:
                        self.open_files.append(operation.op.path)
                    foreign.append(operation)
                    if forward:
                        break
            else:
                foreign += self._release(watched, unfinished)
        finally:
            for exchange in unfinished.values():
                exchange.clear()
        self._sync()
        return foreign

    def _release(
        self,
        watched: Sequence[tuple[ReplayOperation, AtomicExchange]],
        unfinished: dict[int, AtomicExchange],
    ) -> Iterator[ReplayOperation]:
        """Remove old contents that another program may still write to, as late as possible; yield
        the operations whose files were written.
        """
        if watched:
            self._sync()
        for operation, exchange in watched:
            if exchange.release():
                del unfinished[operation.n]
            else:
                yield operation

    def _stage(self, swap: AtomicExchange) -> bool:
        """Write the new content next to the file; return whether its folder exists."""
        try:
            if swap.post is not None:
                swap.stage(self._content(swap.post))
        except (FileNotFoundError, ChangeRefused):
            return False
        return True

    def _sync(self) -> None:
        """Wait until the names in every changed folder are on the disk."""
        folders = {(step.op.root, os.path.dirname(step.op.path)): step for step in self.operations}
        for step in folders.values():
            with (
                suppress(FileNotFoundError, ChangeRefused),
                step.root.open_folder(step.op.path) as (folder, _),
            ):
                calls.sync_folder(folder)

    def _content(self, sha: str | None) -> bytes:
        return self.history.get_content(sha) or b""

    def _exchange_for(self, step: ReplayOperation, *, forward: bool) -> AtomicExchange:
        op = step.op

        def keep(content: bytes) -> None:
            self.history.store_displaced(op.root, op.path, content, self.at)

        def report_conflict(content: bytes) -> None:
            self.history.add_conflict(op.root, op.path, op.pre, content, self.at)
            self.unmerged.append(op.path)

        start, goal = (op.pre, op.post) if forward else (op.post, op.pre)
        name = f"{TEMPORARY}{self.act.token}-{step.n}"
        origin = op.from_path if op.from_root == op.root else ""
        return AtomicExchange(
            step.root,
            op.path,
            start,
            goal,
            name,
            self._content,
            keep,
            report_conflict,
            origin,
            op.mode,
            self._read_modified(op),
        )

    def _read_modified(self, op: FileOperation) -> int | None:
        """Return when a file that is moved from another memory was written; None for any other, or
        where it is gone.
        """
        if not op.from_path or op.from_root == op.root:
            return None
        roots = (step.root for step in self.operations if step.op.root == op.from_root)
        root = next(roots, None)
        with suppress(OSError, ChangeRefused):
            return root.read_modified(op.from_path) if root else None
        return None


def _in_order(
    ready: Sequence[tuple[ReplayOperation, AtomicExchange]],
) -> list[tuple[ReplayOperation, AtomicExchange]]:
    """Return the operations in order, but those that remove a file last: a note that moves is seen
    twice for a moment, never nowhere. Those that remove another spelling of a new name come first:
    if the file system does not distinguish the two, the new name is free only then.
    """
    new = {_fold_spelling(step) for step, swap in ready if swap.pre is None}

    def turn(pair: tuple[ReplayOperation, AtomicExchange]) -> int:
        step, swap = pair
        if swap.post is not None:
            return 1
        return 0 if _fold_spelling(step) in new else 2

    return sorted(ready, key=turn)


def _fold_spelling(step: ReplayOperation) -> tuple[str, str]:
    return step.op.root, normalize(step.op.path).casefold()


def _make(swap: AtomicExchange) -> ExchangeResult:
    try:
        return swap.exchange()
    except ChangeRefused:
        # its folder became something else
        return ExchangeResult.FOREIGN


def _describe_unreverted(operations: Sequence[ReplayOperation]) -> dict[str, str]:
    """Return the error argument that names files with another program's content."""
    if not operations:
        return {}
    paths = ", ".join(make_visible(operation.op.path) for operation in operations)
    return {"changed": f"Nothing else was changed, but other programs wrote: {paths}."}


@contextmanager
def _defer_signals() -> Iterator[None]:
    """Block signals that would end the process until the block ends."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
