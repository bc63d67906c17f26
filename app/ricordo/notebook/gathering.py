"""Gathering evidence while a memory is followed: beside the screen, giving way to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from ricordo.courtesy import GivingWay
from ricordo.memory.memory import Memory
from ricordo.notebook.evidence import Stopped
from ricordo.notebook.open import Notebook

_PATIENCE = 20.0
"""Seconds for which it gives way more than it works: among very many notes it takes minutes, in
which the person types.
"""
_TOLD_EVERY = 0.25
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """How far the gathering has come."""

    doing: str = ""
    """What is being gathered, in a few words; "" when it is done."""
    is_other: bool = False
    """Whether more, or other, is known than before."""


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
                await self._woken.wait()
                self._woken.clear()
                if self._memory is not None:
                    async for come in self._gather(self._memory):
                        yield come
        finally:
            self._is_stopped = True

    async def _gather(self, memory: Memory) -> AsyncIterator[Gathered]:
        self._doing = ""
        work = asyncio.create_task(asyncio.to_thread(self._work, memory))
        while not (await asyncio.wait((work,), timeout=_TOLD_EVERY))[0]:
            yield Gathered(self._doing)
        self._done_for = memory
        yield Gathered(is_other=work.result())

    # In a thread

    def _work(self, memory: Memory) -> bool:
        way = GivingWay(_PATIENCE)

        def step(doing: str) -> None:
            if self._is_stopped:
                raise Stopped
            self._doing = doing
            way.step()

        try:
            return self._notebook.gather(memory, step)
        except Stopped:
            return False
