"""Recording a memory while it is followed: what others wrote goes into the history once it has
been the same for a moment. It comes after the screen: nothing on it waits for the history.
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
from ricordo.services.history.maintenance import told_of_recovery
from ricordo.services.history.recorder import STABLE_FOR, Recorded
from ricordo.services.inbox.inbox import inbox
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.reader import reread_files
from ricordo.text import clip

_LONGEST_NAME = 60
"""Cells."""
_PATIENCE = 10 * STABLE_FOR
"""Seconds after which a recording waits no longer for somebody who keeps writing; as much longer
than it works it waits for what is awaited.
"""


@dataclass(frozen=True, slots=True)
class RecordedState:
    """What the history holds now."""

    new: int = 0
    """How many arrivals wait in the inbox."""
    is_other: bool = False
    """Whether something was recorded that had not been."""
    has_renamed: bool = False
    """Whether notes were renamed among it."""
    notices: tuple[str, ...] = ()
    """What the person has to be told, a sentence each."""
    warnings: tuple[str, ...] = ()
    """The same, of what went wrong or was undone by others."""


class Recording:
    """Records the memory that a follower shows."""

    def __init__(self, notebook: Notebook) -> None:
        """Nothing is recorded before `shown` was told of a memory."""
        self._notebook = notebook
        self._memory: Memory | None = None
        self._touched: dict[str, float] = {}
        """Files that wait, and when they were touched last, by a steady clock."""
        self._woken = asyncio.Event()
        self._begun_by = 0.0
        """When the first recording is made at the latest, by the same clock."""
        self._is_begun = False
        self._told: set[str] = set()

    def shown(self, memory: Memory, touched: Collection[str] | None) -> None:
        """Take note that `memory` is shown now, after somebody wrote to the files `touched`; None
        where nobody knows, so that their times have to tell.
        """
        now = time.monotonic()
        if self._memory is None:
            self._begun_by = now + _PATIENCE
        if touched is None:
            touched = [file.path for file in memory.files if _is_fresh(file)]
        self._touched.update(dict.fromkeys(touched, now))
        self._memory = memory
        self._woken.set()

    def count_anew(self) -> None:
        """Ask for the inbox to be counted again, because something was decided."""
        self._woken.set()

    async def kept(self) -> AsyncIterator[RecordedState]:
        """Yield what the person has to know of the history, for ever."""
        recovered = await self._attempt(self._recover)
        if recovered is not None:
            yield recovered
        while True:
            await self._until_something_is_due()
            kept = await self._attempt(self._record)
            if kept is not None:
                yield kept

    async def _attempt(self, work: Callable[[], RecordedState | None]) -> RecordedState | None:
        """Do `work` beside the screen; a history that cannot be used is told once."""
        try:
            return await asyncio.to_thread(work)
        except StateUnusable as error:
            if error.message in self._told:
                return None
            self._told.add(error.message)
            said = f"{error.message} The notes are shown; nothing is recorded for the inbox."
            return RecordedState(await asyncio.to_thread(self._waiting), warnings=(said,))
        except RicordoError:
            # the memory cannot be read at the moment: the follower tells it, and shows it anew
            self._touched.clear()
            return None

    async def _until_something_is_due(self) -> None:
        """Wait until a file was left alone for long enough, or something was decided."""
        while True:
            left = self._due() - time.monotonic() if self._touched else None
            if left is not None and left <= 0:
                return
            try:
                await asyncio.wait_for(self._woken.wait(), left)
            except TimeoutError:
                return
            self._woken.clear()
            if not self._touched:
                return

    def _due(self) -> float:
        if self._is_begun:
            return min(self._touched.values()) + STABLE_FOR
        # as it is first seen a memory is kept whole, unless somebody never stops writing
        return min(max(self._touched.values()) + STABLE_FOR, self._begun_by)

    # In a thread

    def _waiting(self) -> int:
        """Return how many arrivals wait as far as that was kept before."""
        with suppress(StateUnusable):
            return len(inbox(self._notebook).waiting)
        return 0

    def _recover(self) -> RecordedState | None:
        recovered = self._notebook.door.recover(self._notebook.surroundings.now)
        told = tuple(told_of_recovery(recovered))
        return RecordedState(warnings=told) if told else None

    def _record(self) -> RecordedState | None:
        memory = self._memory
        if memory is None:
            return None
        self._is_begun = True
        step = Throttle(_PATIENCE).step
        recorded = self._notebook.record(memory, self._still_waiting(memory), step)
        warnings = (*self._notebook.take_notices(), *map(_put_back, recorded.put_back))
        notices = (_begun(memory, recorded),) if recorded.is_first else ()
        new = len(inbox(self._notebook).waiting)
        is_other = recorded.act is not None
        return RecordedState(new, is_other, recorded.has_renamed, notices, warnings)

    def _still_waiting(self, memory: Memory) -> frozenset[str]:
        """Return the files that were touched a moment ago, or are other than they are shown."""
        now = time.monotonic()
        touched = dict(self._touched)
        ripe = [path for path, since in touched.items() if now - since >= STABLE_FOR]
        on_disk = reread_files(memory, ripe) if ripe else memory
        for path in ripe:
            shown, there = memory.by_path.get(path), on_disk.by_path.get(path)
            if _is_the_same(shown, there):
                # touched again meanwhile, it goes on waiting
                if self._touched.get(path) == touched[path]:
                    del self._touched[path]
            else:
                self._touched[path] = now
        return frozenset(self._touched)


def _is_fresh(file: Note) -> bool:
    """Say whether a file was written so lately that its writer may not be done."""
    # a time in the future is a wrong clock, not a writer
    return 0 <= time.time() - file.facts.modified < STABLE_FOR


def _is_the_same(one: Note | None, other: Note | None) -> bool:
    if one is None or other is None:
        return one is other
    return one is other or (
        one.raw == other.raw
        and one.facts.size == other.facts.size
        and one.facts.modified == other.facts.modified
    )


def _begun(memory: Memory, recorded: Recorded) -> str:
    notes = len(memory.notes)
    what = f"{notes:,} {'note' if notes == 1 else 'notes'}"
    return (
        f"The history keeps this memory from now on: {what if recorded.files else 'no notes yet'}."
    )


def _put_back(path: str) -> str:
    return (
        f"Another program put back what you changed in {clip(path, _LONGEST_NAME)}: "
        "i shows it, d there takes it back again."
    )
