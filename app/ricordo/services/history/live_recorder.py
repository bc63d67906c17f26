"""Recording a memory while it is followed: what others wrote goes into the history once it has been
stable for a moment. The screen never waits for the history.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass

from ricordo.background import Throttle
from ricordo.errors import RicordoError, StateUnusable
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.services.history.recorder import STABLE_SECONDS, RecordResult
from ricordo.services.history.recovery import describe_recovery
from ricordo.services.inbox.inbox import read_inbox
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.reader import reread_files
from ricordo.text import clip

_LONGEST_NAME = 60
"""Cells."""
_PATIENCE = 10 * STABLE_SECONDS
"""Seconds after which the first recording no longer waits for writers; also for how long recording
is throttled in favour of the screen.
"""


@dataclass(frozen=True, slots=True)
class RecordedState:
    """State of the history after a recording."""

    pending_count: int = 0
    """Number of pending arrivals in the inbox."""
    has_changed: bool = False
    """Whether something new was recorded."""
    has_renamed: bool = False
    """Whether that includes renamed notes."""
    messages: tuple[str, ...] = ()
    """Messages to the user, a sentence each."""
    warnings: tuple[str, ...] = ()
    """Messages about errors and about changes that others reverted."""


class LiveRecorder:
    """Records the memory that a follower shows."""

    def __init__(self, notebook: Notebook) -> None:
        """Nothing is recorded before `shown` is called with a memory."""
        self._notebook = notebook
        self._memory: Memory | None = None
        self._touched: dict[str, float] = {}
        """Files not yet stable, and when they were last touched, by a monotonic clock."""
        self._woken = asyncio.Event()
        self._begun_by = 0.0
        """Latest time of the first recording, by the same clock."""
        self._is_begun = False
        self._reported: set[str] = set()
        """Errors that were reported."""

    def set_memory(self, memory: Memory, touched: Collection[str] | None) -> None:
        """Set the memory that is shown now, after somebody wrote to the files `touched`; None if
        that is unknown, then modification times decide.
        """
        now = time.monotonic()
        if self._memory is None:
            self._begun_by = now + _PATIENCE
        if touched is None:
            touched = [file.path for file in memory.files if _is_fresh(file)]
        self._touched.update(dict.fromkeys(touched, now))
        self._memory = memory
        self._woken.set()

    def request_inbox_count(self) -> None:
        """Request that the inbox is counted again, after a decision."""
        self._woken.set()

    async def watch_states(self) -> AsyncIterator[RecordedState]:
        """Yield the state of the history after each recording, for ever."""
        recovered = await self._attempt(self._recover)
        if recovered is not None:
            yield recovered
        while True:
            await self._wait_until_due()
            recorded = await self._attempt(self._record)
            if recorded is not None:
                yield recorded

    async def _attempt(self, work: Callable[[], RecordedState | None]) -> RecordedState | None:
        """Run `work` in a thread; report an unusable history once."""
        try:
            return await asyncio.to_thread(work)
        except StateUnusable as error:
            if error.message in self._reported:
                return None
            self._reported.add(error.message)
            warning = f"{error.message} The notes are shown; nothing is recorded for the inbox."
            return RecordedState(await asyncio.to_thread(self._count_pending), warnings=(warning,))
        except RicordoError:
            # the memory cannot be read now: the follower reports it, and shows it again later
            self._touched.clear()
            return None

    async def _wait_until_due(self) -> None:
        """Wait until a file has been stable for long enough, or something was decided."""
        while True:
            seconds = self._due() - time.monotonic() if self._touched else None
            if seconds is not None and seconds <= 0:
                return
            try:
                await asyncio.wait_for(self._woken.wait(), seconds)
            except TimeoutError:
                return
            self._woken.clear()
            if not self._touched:
                return

    def _due(self) -> float:
        if self._is_begun:
            return min(self._touched.values()) + STABLE_SECONDS
        # the first recording waits until all files are stable, unless writing never stops
        return min(max(self._touched.values()) + STABLE_SECONDS, self._begun_by)

    # In a thread

    def _count_pending(self) -> int:
        """Return the number of pending arrivals as recorded before; 0 if that cannot be read."""
        with suppress(StateUnusable):
            return len(read_inbox(self._notebook).pending)
        return 0

    def _recover(self) -> RecordedState | None:
        recovered = self._notebook.writer.recover(self._notebook.environment.now)
        warnings = tuple(describe_recovery(recovered))
        return RecordedState(warnings=warnings) if warnings else None

    def _record(self) -> RecordedState | None:
        memory = self._memory
        if memory is None:
            return None
        self._is_begun = True
        step = Throttle(_PATIENCE).step
        recorded = self._notebook.record(memory, self._not_stable(memory), step)
        warnings = (*self._notebook.take_messages(), *map(_reverted_message, recorded.reverted))
        notices = (_first_message(memory, recorded),) if recorded.is_first else ()
        new = len(read_inbox(self._notebook).pending)
        is_other = recorded.act is not None
        return RecordedState(new, is_other, recorded.has_renamed, notices, warnings)

    def _not_stable(self, memory: Memory) -> frozenset[str]:
        """Return the files that were touched a moment ago, or differ from what is shown."""
        now = time.monotonic()
        touched = dict(self._touched)
        due = [path for path, since in touched.items() if now - since >= STABLE_SECONDS]
        on_disk = reread_files(memory, due) if due else memory
        for path in due:
            if _is_the_same(memory.by_path.get(path), on_disk.by_path.get(path)):
                # if it was touched again meanwhile, it stays
                if self._touched.get(path) == touched[path]:
                    del self._touched[path]
            else:
                self._touched[path] = now
        return frozenset(self._touched)


def _is_fresh(file: Note) -> bool:
    """Return whether a file was written so recently that its writer may not be done."""
    # a time in the future is a wrong clock, not a writer
    return 0 <= time.time() - file.facts.modified < STABLE_SECONDS


def _is_the_same(one: Note | None, other: Note | None) -> bool:
    if one is None or other is None:
        return one is other
    return one is other or (
        one.raw == other.raw
        and one.facts.size == other.facts.size
        and one.facts.modified == other.facts.modified
    )


def _first_message(memory: Memory, recorded: RecordResult) -> str:
    notes = len(memory.notes)
    what = f"{notes:,} {'note' if notes == 1 else 'notes'}"
    return f"History started for this memory: {what if recorded.files else 'no notes yet'}."


def _reverted_message(path: str) -> str:
    return (
        f"Another program reverted your change of {clip(path, _LONGEST_NAME)}: "
        "i opens the inbox, d there undoes it."
    )
