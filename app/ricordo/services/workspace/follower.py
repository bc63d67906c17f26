"""Following a memory: a new snapshot whenever it changes or the user asks for one.

Agents write files in several steps. A file that looks complete is shown at once. A file that looks
torn (empty, shorter by more than half, broken frontmatter, missing) is held back until it has been
stable for a moment; so is a memory whose folder was missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Set
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto

from ricordo.background import Throttle, foreground_work
from ricordo.errors import RicordoError
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.services.history.live_recorder import LiveRecorder, RecordedState
from ricordo.services.history.recorder import STABLE_SECONDS
from ricordo.services.workspace.evidence import GatheringCancelled, GatherStep
from ricordo.services.workspace.notebook import Depth, Notebook, Snapshot
from ricordo.storage.reader import reread_files
from ricordo.storage.watcher import FileEvents, watch

_PATIENCE = 20.0
"""Seconds for which gathering sleeps more than it works: with very many notes it takes minutes,
during which the user types.
"""
_REPORT_EVERY = 0.25
"""Seconds."""
NEWS_INTERVAL = 3.0
"""Seconds between checks for new agent activity; a check takes some milliseconds."""

_Work = Callable[[Memory, GatherStep], bool]
"""Gathers evidence and returns whether it differs from before."""


@dataclass(frozen=True, slots=True)
class EvidenceProgress:
    """Progress of gathering evidence."""

    phase: str = ""
    """What is being gathered, in a few words; "" when it is done."""
    has_changed: bool = False
    """Whether the evidence differs from before."""
    messages: tuple[str, ...] = ()
    """Messages to the user about Ricordo's own files, a sentence each."""


class EvidenceCollector:
    """Gathers the evidence on the memory that a follower shows."""

    def __init__(self, notebook: Notebook) -> None:
        """Nothing is gathered before `set_memory` is called with a memory."""
        self._notebook = notebook
        self._memory: Memory | None = None
        self._done_for: Memory | None = None
        self._woken = asyncio.Event()
        self._is_stopped = False
        self._doing = ""

    @property
    def is_idle(self) -> bool:
        """Whether the evidence on the shown memory is complete."""
        return self._memory is self._done_for

    def set_memory(self, memory: Memory) -> None:
        """Set the memory that is shown now."""
        if memory is not self._memory:
            self._memory = memory
            self._woken.set()

    async def watch_progress(self) -> AsyncIterator[EvidenceProgress]:
        """Yield the progress, for ever. Evidence is gathered while the caller iterates, and
        gathering stops when the iteration ends.
        """
        try:
            while True:
                work = await self._next_work()
                if self._memory is not None and work is not None:
                    async for progress in self._gather(self._memory, work):
                        yield progress
        finally:
            self._is_stopped = True

    async def _next_work(self) -> _Work | None:
        """Return how to gather: everything once another memory is shown, or only news; None if
        there is neither within `NEWS_INTERVAL`.
        """
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), NEWS_INTERVAL)
            self._woken.clear()
            return self._notebook.gather
        has_news = await asyncio.to_thread(lambda: self._notebook.has_news)
        # news is added to the evidence on this memory; another one may have been shown meanwhile
        return self._notebook.gather_news if has_news and self.is_idle else None

    async def _gather(self, memory: Memory, work: _Work) -> AsyncIterator[EvidenceProgress]:
        self._doing = ""
        task = asyncio.create_task(asyncio.to_thread(self._work, memory, work))
        while not (await asyncio.wait((task,), timeout=_REPORT_EVERY))[0]:
            yield EvidenceProgress(self._doing)
        self._done_for = memory
        is_other = task.result()
        yield EvidenceProgress(has_changed=is_other, messages=tuple(self._notebook.take_messages()))

    # In a thread

    def _work(self, memory: Memory, work: _Work) -> bool:
        throttle = Throttle(_PATIENCE)

        def step(doing: str) -> None:
            if self._is_stopped:
                raise GatheringCancelled
            self._doing = doing
            throttle.step()

        try:
            return work(memory, step)
        except GatheringCancelled:
            return False


_FILLING = 20
"""How often a folder that came back is read, at most, before it is shown while it changes."""


@dataclass(frozen=True, slots=True)
class FollowedSnapshot:
    """A snapshot, and what led to it."""

    snapshot: Snapshot
    changed: frozenset[str] = frozenset()
    """Files that changed or were deleted since the previous snapshot."""
    polling: bool = False
    number: int = 0
    """How many requests to reread it answers, counted from the start."""


@dataclass(frozen=True, slots=True)
class MemoryLost:
    """The memory cannot be read now."""

    error: RicordoError


class _Request(Enum):
    REREAD = auto()
    JUDGE = auto()


@dataclass(frozen=True, slots=True)
class _Held:
    """The content of a file that looks torn, and since when."""

    raw: bytes | None
    """None for a deleted file."""
    since: float
    """By the clock of the event loop, in seconds."""


class Follower:
    """Yields one snapshot of a memory after the other; owns its `Notebook`."""

    def __init__(self, notebook: Notebook) -> None:
        """`notebook` must not be used by any other object from now on."""
        self._notebook = notebook
        self._queue: asyncio.Queue[FileEvents | _Request] = asyncio.Queue()
        self._memory: Memory | None = None
        self._behind: _Request | None = None
        """A request that came after the batches that are being answered."""
        self._held: dict[str, _Held] = {}
        self._polling = False
        self._asked = self._answered = 0
        """How many times a full reread was requested, and done."""
        self._recording = LiveRecorder(notebook)
        self._gathering = EvidenceCollector(notebook)

    def request_reread(self) -> int:
        """Request a full reread; return the number of the snapshot that will show it."""
        self._queue.put_nowait(_Request.REREAD)
        self._asked += 1
        return self._asked

    def request_judging(self) -> None:
        """Request that findings are computed again, after a decision."""
        self._queue.put_nowait(_Request.JUDGE)

    def request_inbox_count(self) -> None:
        """Request that the inbox is counted again, after a decision there."""
        self._recording.request_inbox_count()

    def watch_history(self) -> AsyncIterator[RecordedState]:
        """Yield the state of the history, for ever. History is recorded while the caller iterates,
        after the first snapshot and after every change.
        """
        return self._recording.watch_states()

    async def watch_evidence(self) -> AsyncIterator[EvidenceProgress]:
        """Yield the progress of gathering evidence, for ever. Evidence is gathered while the caller
        iterates, after the first snapshot and after every change; a new snapshot follows.
        """
        async for progress in self._gathering.watch_progress():
            if progress.has_changed:
                self.request_judging()
            yield progress

    async def decide(self, finding_id: str, *, is_undo: bool, reason: str = "") -> None:
        """Dismiss a finding, with a `reason` for the history, or undo the dismissal. Raises
        StateUnusable.
        """
        if is_undo:
            await asyncio.to_thread(self._notebook.undo_dismissal, finding_id)
        else:
            await asyncio.to_thread(self._notebook.dismiss, finding_id, reason)
        self.request_judging()

    async def watch_snapshots(self) -> AsyncIterator[FollowedSnapshot | MemoryLost]:
        """Yield a snapshot of the indexes, one of the notes without findings, then one after every
        change, for ever.
        """
        with suppress(RicordoError):
            # an error is reported when the memory is read
            yield await self._listed()
        # watched from before the notes are read, but not sooner: that would delay the first paint
        pump = asyncio.create_task(self._pump())
        try:
            async for snapshot in self._first():
                yield snapshot
            while True:
                yield await self._next()
        finally:
            pump.cancel()

    async def _pump(self) -> None:
        async for batch in watch(self._notebook.place.root):
            self._queue.put_nowait(batch)

    async def _listed(self) -> FollowedSnapshot:
        def listed() -> Memory:
            memory = self._notebook.list()
            # what the rows need is derived here, so that no key waits for it
            _ = (memory.load, memory.links)
            return memory

        return self._unjudged(await asyncio.to_thread(listed), Depth.LISTED)

    def _unjudged(self, memory: Memory, depth: Depth) -> FollowedSnapshot:
        return FollowedSnapshot(Snapshot(memory, (), (), self._notebook.environment.now, depth))

    async def _first(self) -> AsyncIterator[FollowedSnapshot | MemoryLost]:
        try:
            self._memory = await asyncio.to_thread(lambda: self._notebook.read().precompute())
        except RicordoError as error:
            yield MemoryLost(error)
            return
        yield self._unjudged(self._memory, Depth.READ)
        yield FollowedSnapshot(await asyncio.to_thread(self._notebook.judge, self._memory))
        self._recording.set_memory(self._memory, None)
        self._gathering.set_memory(self._memory)

    async def _next(self) -> FollowedSnapshot | MemoryLost:
        while True:
            request = await self._take_request()
            self._answered += request is _Request.REREAD
            before = self._memory
            try:
                with foreground_work():
                    snapshot = await self._answer(request)
            except RicordoError as error:
                self._memory = None
                self._held = {}
                if before is not None or request is _Request.REREAD:
                    return MemoryLost(error)
                continue
            if self._memory is not None:
                self._recording.set_memory(self._memory, _touched(request, before, snapshot))
                self._gathering.set_memory(self._memory)
            if snapshot is not None:
                return snapshot

    async def _take_request(self) -> FileEvents | _Request:
        behind, self._behind = self._behind, None
        request = behind or await self._next_request()
        return self._merge_queued(request) if isinstance(request, FileEvents) else request

    async def _next_request(self) -> FileEvents | _Request:
        if not self._held:
            return await self._queue.get()
        due = min(held.since for held in self._held.values()) + STABLE_SECONDS
        seconds = due - asyncio.get_running_loop().time()
        try:
            return await asyncio.wait_for(self._queue.get(), max(seconds, 0.0))
        except TimeoutError:
            return FileEvents(frozenset(self._held), is_polling=self._polling)

    def _merge_queued(self, events: FileEvents) -> FileEvents:
        """Add the queued events: reading takes longer than an agent needs to write."""
        while not self._queue.empty():
            request = self._queue.get_nowait()
            if not isinstance(request, FileEvents):
                self._behind = request
                break
            everything = events.needs_full_read or request.needs_full_read
            events = FileEvents(events.paths | request.paths, everything, request.is_polling)
        return events

    async def _answer(self, request: FileEvents | _Request) -> FollowedSnapshot | None:
        before = self._memory
        if request is _Request.JUDGE and before is not None:
            return await self._judge(before, frozenset())
        if isinstance(request, FileEvents):
            began_polling = request.is_polling and not self._polling
            self._polling = request.is_polling
            if not request.paths and not request.needs_full_read and not began_polling and before:
                return None
            if before is not None and not request.needs_full_read:
                memory = await asyncio.to_thread(reread_files, before, request.paths)
                memory = self._without_torn(before, memory, request.paths)
                return await self._judge_if_changed(before, memory, force=began_polling)
        memory = await asyncio.to_thread(self._notebook.read)
        self._held = {}
        if before is None:
            return await self._judge(await self._read_until_stable(memory), frozenset())
        return await self._judge_if_changed(before, memory, force=request is _Request.REREAD)

    async def _read_until_stable(self, memory: Memory) -> Memory:
        """Return a memory whose folder was missing once it no longer changes: shown half filled, it
        would close the note that the user has open.
        """
        for _ in range(_FILLING):
            await asyncio.sleep(STABLE_SECONDS)
            before, memory = memory, await asyncio.to_thread(self._notebook.read)
            if not _differences(before, memory):
                break
        return memory

    async def _judge_if_changed(
        self, before: Memory, memory: Memory, force: bool
    ) -> FollowedSnapshot | None:
        changed = _differences(before, memory)
        if not changed and not force and memory.skipped == before.skipped:
            return None
        return await self._judge(memory, changed)

    async def _judge(self, memory: Memory, changed: frozenset[str]) -> FollowedSnapshot:
        self._memory = memory
        snapshot = await asyncio.to_thread(self._notebook.judge, memory)
        return FollowedSnapshot(snapshot, changed, self._polling, self._answered)

    def _without_torn(self, before: Memory, now: Memory, paths: frozenset[str]) -> Memory:
        """Return `now` with the old text of files that look torn, until they are stable."""
        moment = asyncio.get_running_loop().time()
        arrived = {
            now.by_path[path].raw for path in paths & now.by_path.keys() - before.by_path.keys()
        }
        old_files: dict[str, Note | None] = {}
        for path in paths:
            old, new = before.by_path.get(path), now.by_path.get(path)
            renamed = old is not None and new is None and old.raw in arrived
            if (
                not renamed
                and _looks_torn(old, new)
                and not self._is_stable(path, new.raw if new else None, moment)
            ):
                old_files[path] = old
            else:
                self._held.pop(path, None)
        return now.with_files(old_files) if old_files else now

    def _is_stable(self, path: str, raw: bytes | None, moment: float) -> bool:
        """Return whether a file that looks torn has been `raw` for long enough."""
        held = self._held.get(path)
        if held is None or held.raw != raw:
            self._held[path] = _Held(raw, moment)
            return False
        return moment - held.since >= STABLE_SECONDS


def _touched(
    request: FileEvents | _Request, before: Memory | None, snapshot: FollowedSnapshot | None
) -> Set[str] | None:
    """Return the files that somebody wrote to; None if that is not known."""
    if before is None:
        return None
    hinted = request.paths & before.by_path.keys() if isinstance(request, FileEvents) else set()
    return hinted | (snapshot.changed if snapshot is not None else set())


def _looks_torn(old: Note | None, new: Note | None) -> bool:
    if new is None or old is None:
        return (old is not None) if new is None else not new.raw
    if old.raw == new.raw or not old.raw:
        return False
    broken = bool(new.frontmatter.error) and not old.frontmatter.error
    return len(new.raw) * 2 < len(old.raw) or broken or (new.read_error != old.read_error)


def _differences(before: Memory, now: Memory) -> frozenset[str]:
    old, new = before.by_path, now.by_path
    deleted = old.keys() - new.keys()
    changed = {
        path
        for path, file in new.items()
        if (was := old.get(path)) is not file and (was is None or was.raw != file.raw)
    }
    return frozenset(deleted | changed)
