"""Waiting in a thread for what is asked on a loop, so that it can be cancelled at any time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from ricordo.model.interrupts import Interrupted, interrupts_held

_LOOK_EVERY = 0.1
"""Seconds between two looks whether it was cancelled."""

T = TypeVar("T")


def wait_for(asking: Coroutine[Any, Any, T], step: Callable[[], None]) -> T:
    """Return what `asking` comes to. `step` is called ten times a second; what it raises ends the
    asking and is raised here, as is KeyboardInterrupt for whatever interrupts it.
    """
    with interrupts_held() as raise_held:

        def stepping() -> None:
            raise_held()
            step()

        try:
            answer = _run(_watched(asking, stepping))
            raise_held()
            return answer
        except Interrupted:
            raise KeyboardInterrupt from None


def _run(watched: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.new_event_loop()
    loop.set_default_executor(_Unawaited())
    task = loop.create_task(watched)
    try:
        return loop.run_until_complete(task)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


class _Unawaited(ThreadPoolExecutor):
    """Threads for which nobody waits, not even at the end of the process: looking up a name takes
    as long as the network likes, and cannot be cancelled.
    """

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Do it in a thread of its own."""
        future: Future[T] = Future()

        def work() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except Exception as error:
                future.set_exception(error)

        if future.set_running_or_notify_cancel():
            threading.Thread(target=work, daemon=True).start()
        return future


async def _watched(asking: Coroutine[Any, Any, T], step: Callable[[], None]) -> T:
    task = asyncio.ensure_future(asking)
    try:
        while not task.done():
            step()
            await asyncio.wait({task}, timeout=_LOOK_EVERY)
        return task.result()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task
