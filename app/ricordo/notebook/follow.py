"""Following a memory: a new look whenever somebody changed it, or the person asked for one.

Agents write files in several steps. What looks like a whole file is shown at once; what looks
torn (empty, shorter by more than half, a head that broke, gone) is held back until it has been the
same for a moment; so is a memory whose folder was away.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Set
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto

from ricordo.courtesy import awaited
from ricordo.disk.reader import reread_files
from ricordo.disk.watcher import Batch, watch
from ricordo.errors import RicordoError
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.notebook.gathering import Gathered, Gathering
from ricordo.notebook.open import Depth, Look, Notebook
from ricordo.notebook.record import STABLE_FOR
from ricordo.notebook.recording import Kept, Recording

_FILLING = 20
"""Times that a folder that came back is read before it is shown while it still changes."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A look, and what led to it."""

    look: Look
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
        self._queue: asyncio.Queue[Batch | _Wish] = asyncio.Queue()
        self._memory: Memory | None = None
        self._behind: _Wish | None = None
        """A wish that came after the batches that are being answered."""
        self._held: dict[str, _Held] = {}
        self._polling = False
        self._asked = self._answered = 0
        """How many times everything was to be read anew, and was."""
        self._recording = Recording(notebook)
        self._gathering = Gathering(notebook)

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

    def kept(self) -> AsyncIterator[Kept]:
        """Yield what the person has to know of the history, for ever. It is written while this is
        waited for, after the first look and after every change.
        """
        return self._recording.kept()

    async def gathered(self) -> AsyncIterator[Gathered]:
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

    async def looks(self) -> AsyncIterator[Seen | Lost]:
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

    async def _listed(self) -> Seen:
        def listed() -> Memory:
            memory = self._notebook.list()
            # what the rows need is derived here, where no key has to wait for it
            _ = (memory.load, memory.links)
            return memory

        return self._sight(await asyncio.to_thread(listed), Depth.LISTED)

    def _sight(self, memory: Memory, depth: Depth) -> Seen:
        return Seen(Look(memory, (), (), self._notebook.surroundings.now, depth))

    async def _first(self) -> AsyncIterator[Seen | Lost]:
        try:
            self._memory = await asyncio.to_thread(lambda: self._notebook.read().derive())
        except RicordoError as error:
            yield Lost(error)
            return
        yield self._sight(self._memory, Depth.READ)
        yield Seen(await asyncio.to_thread(self._notebook.judge, self._memory))
        self._recording.shown(self._memory, None)
        self._gathering.shown(self._memory)

    async def _next(self) -> Seen | Lost:
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

    async def _wish(self) -> Batch | _Wish:
        behind, self._behind = self._behind, None
        wish = behind or await self._next_wish()
        return self._with_those_behind(wish) if isinstance(wish, Batch) else wish

    async def _next_wish(self) -> Batch | _Wish:
        if not self._held:
            return await self._queue.get()
        due = min(held.since for held in self._held.values()) + STABLE_FOR
        left = due - asyncio.get_running_loop().time()
        try:
            return await asyncio.wait_for(self._queue.get(), max(left, 0.0))
        except TimeoutError:
            return Batch(frozenset(self._held), polling=self._polling)

    def _with_those_behind(self, batch: Batch) -> Batch:
        """Add what changed meanwhile: looking takes longer than an agent needs to write."""
        while not self._queue.empty():
            wish = self._queue.get_nowait()
            if not isinstance(wish, Batch):
                self._behind = wish
                break
            everything = batch.everything or wish.everything
            batch = Batch(batch.paths | wish.paths, everything, wish.polling)
        return batch

    async def _answer(self, wish: Batch | _Wish) -> Seen | None:
        before = self._memory
        if wish is _Wish.JUDGE and before is not None:
            return await self._judged(before, frozenset())
        if isinstance(wish, Batch):
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

    async def _judged_if_changed(self, before: Memory, memory: Memory, said: bool) -> Seen | None:
        changed = _differences(before, memory)
        if not changed and not said and memory.skipped == before.skipped:
            return None
        return await self._judged(memory, changed)

    async def _judged(self, memory: Memory, changed: frozenset[str]) -> Seen:
        self._memory = memory
        look = await asyncio.to_thread(self._notebook.judge, memory)
        return Seen(look, changed, self._polling, self._answered)

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


def _touched(wish: Batch | _Wish, before: Memory | None, seen: Seen | None) -> Set[str] | None:
    """Return the files that somebody wrote to; None where that is not known."""
    if before is None:
        return None
    hinted = wish.paths & before.by_path.keys() if isinstance(wish, Batch) else set()
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
