"""Gathering evidence while a memory is followed: beside the screen, giving way to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass

from ricordo.courtesy import GivingWay
from ricordo.memory.memory import Memory
from ricordo.notebook.evidence import Step, Stopped
from ricordo.notebook.open import Notebook

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
class Gathered:
    """How far the gathering has come."""

    doing: str = ""
    """What is being gathered, in a few words; "" when it is done."""
    is_other: bool = False
    """Whether more, or other, is known than before."""
    notices: tuple[str, ...] = ()
    """What the person has to be told of our own files, a sentence each."""


class Gathering:
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

    async def gathered(self) -> AsyncIterator[Gathered]:
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

    async def _gather(self, memory: Memory, how: _Work) -> AsyncIterator[Gathered]:
        self._doing = ""
        work = asyncio.create_task(asyncio.to_thread(self._work, memory, how))
        while not (await asyncio.wait((work,), timeout=_TOLD_EVERY))[0]:
            yield Gathered(self._doing)
        self._done_for = memory
        is_other = work.result()
        yield Gathered(is_other=is_other, notices=tuple(self._notebook.take_notices()))

    # In a thread

    def _work(self, memory: Memory, how: _Work) -> bool:
        way = GivingWay(_PATIENCE)

        def step(doing: str) -> None:
            if self._is_stopped:
                raise Stopped
            self._doing = doing
            way.step()

        try:
            return how(memory, step)
        except Stopped:
            return False
