"""Following a memory: a new look whenever somebody changed it, or the person asked for one.

Agents write files in several steps. What looks like a whole file is shown at once; what looks
torn (empty, shorter by more than half, a head that broke, gone) is held back until it has been the
same for a moment; so is a memory whose folder was away.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Set
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto

from ricordo.background import Throttle, awaited
from ricordo.errors import RicordoError
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.services.history.live_recorder import RecordedState, Recording
from ricordo.services.history.recorder import STABLE_FOR
from ricordo.services.workspace.evidence import Step, Stopped
from ricordo.services.workspace.notebook import Depth, Notebook, Snapshot
from ricordo.storage.reader import reread_files
from ricordo.storage.watcher import FileEvents, watch

_PATIENCE = 20.0
"""Seconds for which it gives way more than it works: among very many notes it takes minutes, in
which the person types.
"""
_TOLD_EVERY = 0.25
"""Seconds."""
NEWS_EVERY = 3.0
"""Seconds after which it is looked whether agents did something; that takes some milliseconds."""

_Work = Callable[[Memory, Step], bool]
"""Gathers, and says whether it is other than before."""


@dataclass(frozen=True, slots=True)
class EvidenceProgress:
    """How far the gathering has come."""

    doing: str = ""
    """What is being gathered, in a few words; "" when it is done."""
    is_other: bool = False
    """Whether more, or other, is known than before."""
    notices: tuple[str, ...] = ()
    """What the person has to be told of our own files, a sentence each."""


class EvidenceCollector:
    """Gathers the evidence of the memory that a follower shows."""

    def __init__(self, notebook: Notebook) -> None:
        """Nothing is gathered before `shown` was told of a memory."""
        self._notebook = notebook
        self._memory: Memory | None = None
        self._done_for: Memory | None = None
        self._woken = asyncio.Event()
        self._is_stopped = False
        self._doing = ""

    @property
    def is_idle(self) -> bool:
        """Whether all that can be known of what is shown is known."""
        return self._memory is self._done_for

    def shown(self, memory: Memory) -> None:
        """Take note that `memory` is shown now."""
        if memory is not self._memory:
            self._memory = memory
            self._woken.set()

    async def gathered(self) -> AsyncIterator[EvidenceProgress]:
        """Yield how far it has come, for ever; it is gathered while this is waited for, and given
        up when that ends.
        """
        try:
            while True:
                work = await self._next_work()
                if self._memory is not None and work is not None:
                    async for come in self._gather(self._memory, work):
                        yield come
        finally:
            self._is_stopped = True

    async def _next_work(self) -> _Work | None:
        """Return how to gather once another memory is shown; once there may be news, how to take
        them in; None after a while without either.
        """
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), NEWS_EVERY)
            self._woken.clear()
            return self._notebook.gather
        has_news = await asyncio.to_thread(lambda: self._notebook.has_news)
        # news are added to what is known of this memory; another one may have been shown meanwhile
        return self._notebook.gather_news if has_news and self.is_idle else None

    async def _gather(self, memory: Memory, how: _Work) -> AsyncIterator[EvidenceProgress]:
        self._doing = ""
        work = asyncio.create_task(asyncio.to_thread(self._work, memory, how))
        while not (await asyncio.wait((work,), timeout=_TOLD_EVERY))[0]:
            yield EvidenceProgress(self._doing)
        self._done_for = memory
        is_other = work.result()
        yield EvidenceProgress(is_other=is_other, notices=tuple(self._notebook.take_notices()))

    # In a thread

    def _work(self, memory: Memory, how: _Work) -> bool:
        way = Throttle(_PATIENCE)

        def step(doing: str) -> None:
            if self._is_stopped:
                raise Stopped
            self._doing = doing
            way.step()

        try:
            return how(memory, step)
        except Stopped:
            return False


_FILLING = 20
"""Times that a folder that came back is read before it is shown while it still changes."""


@dataclass(frozen=True, slots=True)
class FollowedSnapshot:
    """A look, and what led to it."""

    look: Snapshot
    changed: frozenset[str] = frozenset()
    """Files that are other than in the look before, or gone."""
    polling: bool = False
    number: int = 0
    """How many of the looks that were asked for it comes after, itself among them."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The memory cannot be read at the moment."""

    error: RicordoError


class _Wish(Enum):
    REREAD = auto()
    JUDGE = auto()


@dataclass(frozen=True, slots=True)
class _Held:
    """What looks torn, and since when it has been so."""

    raw: bytes | None
    """None for a file that is gone."""
    since: float
    """By the clock of the event loop, in seconds."""


class Follower:
    """Gives one look after the other at one memory; owns its `Notebook` while it does."""

    def __init__(self, notebook: Notebook) -> None:
        """`notebook` must not be used by anybody else from now on."""
        self._notebook = notebook
        self._queue: asyncio.Queue[FileEvents | _Wish] = asyncio.Queue()
        self._memory: Memory | None = None
        self._behind: _Wish | None = None
        """A wish that came after the batches that are being answered."""
        self._held: dict[str, _Held] = {}
        self._polling = False
        self._asked = self._answered = 0
        """How many times everything was to be read anew, and was."""
        self._recording = Recording(notebook)
        self._gathering = EvidenceCollector(notebook)

    def reread(self) -> int:
        """Ask for everything to be read anew; return the number of the look that will show it."""
        self._queue.put_nowait(_Wish.REREAD)
        self._asked += 1
        return self._asked

    def judge(self) -> None:
        """Ask for the findings to be told anew, because something was decided."""
        self._queue.put_nowait(_Wish.JUDGE)

    def count_anew(self) -> None:
        """Ask for the inbox to be counted again, because something was decided there."""
        self._recording.count_anew()

    def kept(self) -> AsyncIterator[RecordedState]:
        """Yield what the person has to know of the history, for ever. It is written while this is
        waited for, after the first look and after every change.
        """
        return self._recording.kept()

    async def gathered(self) -> AsyncIterator[EvidenceProgress]:
        """Yield how far the evidence is gathered, for ever. It is gathered while this is waited
        for, after the first look and after every change; when it is there, another look follows.
        """
        async for come in self._gathering.gathered():
            if come.is_other:
                self.judge()
            yield come

    async def decide(self, finding_id: str, *, take_back: bool, reason: str = "") -> None:
        """Dismiss a finding, with a `reason` for the history, or let it stand again. Raises
        StateUnusable.
        """
        if take_back:
            await asyncio.to_thread(self._notebook.take_back, finding_id)
        else:
            await asyncio.to_thread(self._notebook.dismiss, finding_id, reason)
        self.judge()

    async def looks(self) -> AsyncIterator[FollowedSnapshot | Lost]:
        """Yield a first sight of the indexes, one of the notes without findings, then a look after
        every change, for ever.
        """
        with suppress(RicordoError):
            # why it cannot be listed is told when it cannot be read
            yield await self._listed()
        # watched from before the notes are read, and not sooner: it would keep the first sight
        # from being painted
        pump = asyncio.create_task(self._pump())
        try:
            async for seen in self._first():
                yield seen
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
            # what the rows need is derived here, where no key has to wait for it
            _ = (memory.load, memory.links)
            return memory

        return self._sight(await asyncio.to_thread(listed), Depth.LISTED)

    def _sight(self, memory: Memory, depth: Depth) -> FollowedSnapshot:
        return FollowedSnapshot(Snapshot(memory, (), (), self._notebook.surroundings.now, depth))

    async def _first(self) -> AsyncIterator[FollowedSnapshot | Lost]:
        try:
            self._memory = await asyncio.to_thread(lambda: self._notebook.read().derive())
        except RicordoError as error:
            yield Lost(error)
            return
        yield self._sight(self._memory, Depth.READ)
        yield FollowedSnapshot(await asyncio.to_thread(self._notebook.judge, self._memory))
        self._recording.shown(self._memory, None)
        self._gathering.shown(self._memory)

    async def _next(self) -> FollowedSnapshot | Lost:
        while True:
            wish = await self._wish()
            self._answered += wish is _Wish.REREAD
            before = self._memory
            try:
                with awaited():
                    seen = await self._answer(wish)
            except RicordoError as error:
                self._memory = None
                self._held = {}
                if before is not None or wish is _Wish.REREAD:
                    return Lost(error)
                continue
            if self._memory is not None:
                self._recording.shown(self._memory, _touched(wish, before, seen))
                self._gathering.shown(self._memory)
            if seen is not None:
                return seen

    async def _wish(self) -> FileEvents | _Wish:
        behind, self._behind = self._behind, None
        wish = behind or await self._next_wish()
        return self._with_those_behind(wish) if isinstance(wish, FileEvents) else wish

    async def _next_wish(self) -> FileEvents | _Wish:
        if not self._held:
            return await self._queue.get()
        due = min(held.since for held in self._held.values()) + STABLE_FOR
        left = due - asyncio.get_running_loop().time()
        try:
            return await asyncio.wait_for(self._queue.get(), max(left, 0.0))
        except TimeoutError:
            return FileEvents(frozenset(self._held), polling=self._polling)

    def _with_those_behind(self, batch: FileEvents) -> FileEvents:
        """Add what changed meanwhile: looking takes longer than an agent needs to write."""
        while not self._queue.empty():
            wish = self._queue.get_nowait()
            if not isinstance(wish, FileEvents):
                self._behind = wish
                break
            everything = batch.everything or wish.everything
            batch = FileEvents(batch.paths | wish.paths, everything, wish.polling)
        return batch

    async def _answer(self, wish: FileEvents | _Wish) -> FollowedSnapshot | None:
        before = self._memory
        if wish is _Wish.JUDGE and before is not None:
            return await self._judged(before, frozenset())
        if isinstance(wish, FileEvents):
            began_polling = wish.polling and not self._polling
            self._polling = wish.polling
            if not wish.paths and not wish.everything and not began_polling and before:
                return None
            if before is not None and not wish.everything:
                memory = await asyncio.to_thread(reread_files, before, wish.paths)
                memory = self._without_torn(before, memory, wish.paths)
                return await self._judged_if_changed(before, memory, said=began_polling)
        memory = await asyncio.to_thread(self._notebook.read)
        self._held = {}
        if before is None:
            return await self._judged(await self._filled(memory), frozenset())
        return await self._judged_if_changed(before, memory, said=wish is _Wish.REREAD)

    async def _filled(self, memory: Memory) -> Memory:
        """Return a memory whose folder was away once nobody fills it any more: shown half filled,
        it would take the note that was open from under the person's eyes.
        """
        for _ in range(_FILLING):
            await asyncio.sleep(STABLE_FOR)
            before, memory = memory, await asyncio.to_thread(self._notebook.read)
            if not _differences(before, memory):
                break
        return memory

    async def _judged_if_changed(
        self, before: Memory, memory: Memory, said: bool
    ) -> FollowedSnapshot | None:
        changed = _differences(before, memory)
        if not changed and not said and memory.skipped == before.skipped:
            return None
        return await self._judged(memory, changed)

    async def _judged(self, memory: Memory, changed: frozenset[str]) -> FollowedSnapshot:
        self._memory = memory
        look = await asyncio.to_thread(self._notebook.judge, memory)
        return FollowedSnapshot(look, changed, self._polling, self._answered)

    def _without_torn(self, before: Memory, now: Memory, paths: frozenset[str]) -> Memory:
        """Put the old text of files that look torn back, until they have been stable."""
        moment = asyncio.get_running_loop().time()
        arrived = {
            now.by_path[path].raw for path in paths & now.by_path.keys() - before.by_path.keys()
        }
        kept: dict[str, Note | None] = {}
        for path in paths:
            old, new = before.by_path.get(path), now.by_path.get(path)
            renamed = old is not None and new is None and old.raw in arrived
            if (
                not renamed
                and _looks_torn(old, new)
                and not self._stable(path, new.raw if new else None, moment)
            ):
                kept[path] = old
            else:
                self._held.pop(path, None)
        return now.with_files(kept) if kept else now

    def _stable(self, path: str, raw: bytes | None, moment: float) -> bool:
        """Say whether a file that looks torn has been `raw` for long enough."""
        held = self._held.get(path)
        if held is None or held.raw != raw:
            self._held[path] = _Held(raw, moment)
            return False
        return moment - held.since >= STABLE_FOR


def _touched(
    wish: FileEvents | _Wish, before: Memory | None, seen: FollowedSnapshot | None
) -> Set[str] | None:
    """Return the files that somebody wrote to; None where that is not known."""
    if before is None:
        return None
    hinted = wish.paths & before.by_path.keys() if isinstance(wish, FileEvents) else set()
    return hinted | (seen.changed if seen is not None else set())


def _looks_torn(old: Note | None, new: Note | None) -> bool:
    if new is None or old is None:
        return (old is not None) if new is None else not new.raw
    if old.raw == new.raw or not old.raw:
        return False
    broken = bool(new.head.fault) and not old.head.fault
    return len(new.raw) * 2 < len(old.raw) or broken or (new.trouble != old.trouble)


def _differences(before: Memory, now: Memory) -> frozenset[str]:
    old, new = before.by_path, now.by_path
    gone = old.keys() - new.keys()
    other = {
        path
        for path, file in new.items()
        if (was := old.get(path)) is not file and (was is None or was.raw != file.raw)
    }
    return frozenset(gone | other)
