"""Waiting in a thread for what is asked on a loop, so that it can be cancelled at any time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
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
    task = loop.create_task(watched)
    try:
        return loop.run_until_complete(task)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
        # a thread that still looks up a name is not waited for
        loop.close()


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
