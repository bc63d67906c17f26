"""Carrying out an act that stands in the journal: all of it, or nothing where that is impossible.

Everything here can be done again: what a file holds tells how far it has got.
"""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from ricordo.errors import ChangeRefused, StateUnusable, WriteFailed
from ricordo.memory.change import digest
from ricordo.memory.names import normal
from ricordo.storage import system_calls as calls
from ricordo.storage.atomic_exchange import Exchange, Swap
from ricordo.storage.database import transaction
from ricordo.storage.history import History
from ricordo.storage.jail import HeldRoot
from ricordo.storage.operation import Act, Op
from ricordo.text import visible

TEMPORARY = ".ricordo-tmp-"
"""How the names of files begin that exist while a set is carried out."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LATER = "What was begun is in the journal: the next start completes it or takes it back."
_NOT_PLAIN = ""
"""Stands for the SHA-256 of what is no plain file: equal to none."""


@dataclass(frozen=True, slots=True)
class ReplayOperation:
    """One op of an act, with the directory in which it works."""

    n: int
    op: Op
    root: HeldRoot

    def now(self) -> str | None:
        """Return the SHA-256 of what the file holds now; None where it is not there."""
        try:
            return digest(self.root.read(self.op.path))
        except ChangeRefused:
            return _NOT_PLAIN


@dataclass(frozen=True, slots=True)
class JournalReplay:
    """Leads the files of one act."""

    history: History
    at: str
    """ISO 8601, with time zone: when contents of others that come up count as seen."""
    act: Act
    steps: Sequence[ReplayOperation]
    open_files: list[str] = field(default_factory=list)
    """Paths of files that were left alone because another program has them open for writing."""
    conflicts: list[str] = field(default_factory=list)
    """Paths of files of which another program's content is only in the history."""

    def carry_out(self) -> bool:
        """Do what the act says, or take it back; say whether it is done.

        Raises WriteFailed where the machine does not let us, and StateUnusable.
        """
        with _uninterrupted():
            try:
                if self.act.state == "prepared" and self._complete():
                    return True
                self._take_back()
            except sqlite3.Error as error:
                raise StateUnusable(
                    f"The history cannot be written: {error}.", changed=_LATER
                ) from None
            return False

    def _complete(self) -> bool:
        try:
            foreign = self._lead(forward=True)
        except OSError as error:
            staying = self._take_back()
            raise WriteFailed(
                f"The files cannot be written: {error.strerror or error}.", **_told(staying)
            ) from None
        if foreign:
            return False
        self._finish("done")
        return True

    def _take_back(self) -> list[ReplayOperation]:
        """Lead every file back to what it was; return those in which somebody else's text stays."""
        with transaction(self.history.db):
            self.history.set_state(self.act.n, "reverting")
        try:
            foreign = self._lead(forward=False)
        except OSError as error:
            raise WriteFailed(
                f"The files cannot be written: {error.strerror or error}.", changed=_LATER
            ) from None
        self._finish("refused", foreign)
        return foreign

    def _finish(self, state: str, foreign: Sequence[ReplayOperation] = ()) -> None:
        calls.before("finish")
        with transaction(self.history.db):
            for step in self.steps:
                if state == "done" and not step.op.single:
                    self.history.set_head(step.op.root, step.op.path, step.op.post)
            for step in foreign:
                self.history.set_outcome(self.act.n, step.n, "conflict")
            self.history.set_state(self.act.n, state)
        calls.before("finished")

    def _lead(self, *, forward: bool) -> list[ReplayOperation]:
        """Lead every file to its content after the act, or back to that before it; return the
        steps whose files hold neither.

        Forward, one of those is enough for the others to be left where they are.
        """
        ways = [(step, self._swap(step, forward=forward)) for step in self.steps]
        untidy = {step.n: swap for step, swap in ways}
        ready: list[tuple[ReplayOperation, Swap]] = []
        foreign: list[ReplayOperation] = []
        try:
            for step, swap in ways:
                swap.clear()
                now = step.now()
                if now == swap.post:
                    del untidy[step.n]
                elif now == swap.pre and self._stage(swap):
                    ready.append((step, swap))
                else:
                    foreign.append(step)
            watched: list[tuple[ReplayOperation, Swap]] = []
            for step, swap in () if forward and foreign else _in_order(ready):
                made = _make(swap)
                if made is Exchange.DONE:
                    del untidy[step.n]
                elif made is Exchange.WATCHED:
                    watched.append((step, swap))
                else:
                    if made is Exchange.OPEN:
                        self.open_files.append(step.op.path)
                    foreign.append(step)
                    if forward:
                        break
            else:
                foreign += self._release(watched, untidy)
        finally:
            for swap in untidy.values():
                swap.clear()
        self._sync()
        return foreign

    def _release(
        self, watched: Sequence[tuple[ReplayOperation, Swap]], untidy: dict[int, Swap]
    ) -> Iterator[ReplayOperation]:
        """Let the old contents go that somebody may still write to, as late as possible; yield the
        steps whose files somebody did write to.
        """
        if watched:
            self._sync()
        for step, swap in watched:
            if swap.release():
                del untidy[step.n]
            else:
                yield step

    def _stage(self, swap: Swap) -> bool:
        """Put what the file will hold beside it; say whether there is a folder for it."""
        try:
            if swap.post is not None:
                swap.stage(self._content(swap.post))
        except (FileNotFoundError, ChangeRefused):
            return False
        return True

    def _sync(self) -> None:
        """Wait until the names in every folder that was worked in are on the disk."""
        folders = {(step.op.root, os.path.dirname(step.op.path)): step for step in self.steps}
        for step in folders.values():
            with (
                suppress(FileNotFoundError, ChangeRefused),
                step.root.folder_of(step.op.path) as (folder, _),
            ):
                calls.sync_folder(folder)

    def _content(self, sha: str | None) -> bytes:
        return self.history.content(sha) or b""

    def _swap(self, step: ReplayOperation, *, forward: bool) -> Swap:
        op = step.op

        def keep(content: bytes) -> None:
            self.history.keep_displaced(op.root, op.path, content, self.at)

        def report_conflict(content: bytes) -> None:
            self.history.add_conflict(op.root, op.path, op.pre, content, self.at)
            self.conflicts.append(op.path)

        start, goal = (op.pre, op.post) if forward else (op.post, op.pre)
        name = f"{TEMPORARY}{self.act.token}-{step.n}"
        origin = op.from_path if op.from_root == op.root else ""
        return Swap(
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
        )


def _in_order(ready: Sequence[tuple[ReplayOperation, Swap]]) -> list[tuple[ReplayOperation, Swap]]:
    """Return the steps in their order, but for names that come in another spelling: where the file
    system does not tell the two apart, the new one is free only when the old one is gone.
    """
    come = {_spelling(step) for step, swap in ready if swap.pre is None}
    return sorted(ready, key=lambda it: it[1].post is not None or _spelling(it[0]) not in come)


def _spelling(step: ReplayOperation) -> tuple[str, str]:
    return step.op.root, normal(step.op.path).casefold()


def _make(swap: Swap) -> Exchange:
    try:
        return swap.make()
    except ChangeRefused:
        # its folder became something else
        return Exchange.FOREIGN


def _told(staying: Sequence[ReplayOperation]) -> dict[str, str]:
    """Return what to say of a set that was taken back."""
    if not staying:
        return {}
    paths = ", ".join(visible(step.op.path) for step in staying)
    return {"changed": f"Nothing else was changed, but others wrote meanwhile: {paths}."}


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let signals that would end the process wait until a set is carried out."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
