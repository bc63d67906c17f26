"""Work that a screen does in threads: one job at a time, and only the last one counts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ricordo.background import Throttle
from ricordo.curation.engine import CurationProgress
from ricordo.errors import RicordoError
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from ricordo.curation.engine import Step

Answer = TypeVar("Answer")

_PATIENCE = 5.0
"""Seconds, in all, for which a job waits for keys to be handled first."""


class _Cancelled(Exception):
    """The job was cancelled."""


class Job:
    """Work in a thread, whose progress the screen reads."""

    def __init__(self, phase: str) -> None:
        """`phase` is the first phase, a few words."""
        self.progress = CurationProgress(phase)
        self.began = time.monotonic()
        self.is_cancelled = False
        self._giving = Throttle(_PATIENCE)

    def step(self, progress: CurationProgress) -> None:
        """Record progress. Raises where the job was cancelled, which ends it."""
        if self.is_cancelled:
            raise _Cancelled
        self.progress = progress
        self._giving.step()

    @property
    def label(self) -> str:
        """The phase, the seconds so far and the tokens of the answer, visible text."""
        now = self.progress
        noun = "token" if now.tokens == 1 else "tokens"
        tokens = f" · {now.tokens:,} {noun}" if now.tokens else ""
        return f"{make_one_line(now.phase)} … {time.monotonic() - self.began:.0f} s{tokens}"


class Jobs:
    """The jobs of one screen."""

    def __init__(self) -> None:
        self.now: Job | None = None
        """The running job; None where there is none."""
        self._one_at_a_time = asyncio.Lock()

    def cancel(self) -> None:
        """Cancel the running job."""
        if self.now is not None:
            self.now.is_cancelled = True
        self.now = None

    def begin(self, phase: str) -> Job:
        """Cancel the running job and return a new one."""
        self.cancel()
        self.now = Job(phase)
        return self.now

    async def follow(
        self, job: Job, work: Callable[[Step], Answer], came: Callable[[Answer], object]
    ) -> None:
        """Do `work` in a thread, then call `came` with the answer; not where the job was cancelled
        or replaced. Raises RicordoError where the work failed.
        """
        answer = await self.run(job, work)
        if answer is not None:
            came(answer)

    async def run(self, job: Job, work: Callable[[Step], Answer]) -> Answer | None:
        """Do `work` in a thread and return the answer; None where the job was cancelled or
        replaced. Raises RicordoError where the work failed.
        """
        # one after the other: a thread that was cancelled may not have ended yet
        async with self._one_at_a_time:
            try:
                answer = await asyncio.to_thread(work, job.step)
            except _Cancelled:
                return None
            except RicordoError:
                if job is not self.now:
                    return None
                self.now = None
                raise
        if job is not self.now:
            return None
        self.now = None
        return answer
