"""What a screen has done in threads: one piece after the other, and the last one counts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ricordo.background import Throttle
from ricordo.curation.engine import CurationProgress
from ricordo.errors import RicordoError
from ricordo.text import one_line

if TYPE_CHECKING:
    from ricordo.curation.engine import Step

Answer = TypeVar("Answer")

_PATIENCE = 5.0
"""Seconds for which a piece of work gives way in all to keys."""


class _Cancelled(Exception):
    """The person does not want it any more."""


class Job:
    """Something that goes on in a thread; the screen looks at it whenever it likes."""

    def __init__(self, phase: str) -> None:
        """`phase` says what is being done at first."""
        self.progress = CurationProgress(phase)
        self.began = time.monotonic()
        self.is_cancelled = False
        self._giving = Throttle(_PATIENCE)

    def step(self, progress: CurationProgress) -> None:
        """Be told how far it is; ends it where it was cancelled."""
        if self.is_cancelled:
            raise _Cancelled
        self.progress = progress
        self._giving.step()

    @property
    def told(self) -> str:
        """What is being done, for how long, and how much was answered."""
        now = self.progress
        noun = "token" if now.tokens == 1 else "tokens"
        tokens = f" · {now.tokens:,} {noun}" if now.tokens else ""
        return f"{one_line(now.phase)} … {time.monotonic() - self.began:.0f} s{tokens}"


class Jobs:
    """The work of one screen."""

    def __init__(self) -> None:
        """Nothing goes on."""
        self.now: Job | None = None
        """What goes on."""
        self._one_at_a_time = asyncio.Lock()

    def cancel(self) -> None:
        """Let nothing go on."""
        if self.now is not None:
            self.now.is_cancelled = True
        self.now = None

    def begin(self, phase: str) -> Job:
        """Return a new job, in the place of the one that goes on."""
        self.cancel()
        self.now = Job(phase)
        return self.now

    async def follow(
        self,
        job: Job,
        work: Callable[[Step], Answer],
        came: Callable[[Answer], object],
        failed: Callable[[str], object],
    ) -> None:
        """Do `work` in a thread, and `came` with what came of it or `failed` with why nothing did;
        neither where it is not wanted any more.
        """
        try:
            found = await self.done(job, work)
        except RicordoError as error:
            failed(str(error))
            return
        if found is not None:
            came(found)

    async def done(self, job: Job, work: Callable[[Step], Answer]) -> Answer | None:
        """Do `work` in a thread; return what came of it, None where it is not wanted any more.
        Raises RicordoError where it failed and is still wanted.
        """
        # one after the other: a thread that was told to end may not have ended yet
        async with self._one_at_a_time:
            try:
                found = await asyncio.to_thread(work, job.step)
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
        return found
