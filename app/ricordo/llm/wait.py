"""Waiting in a thread for what is asked on a loop, so that it can be cancelled at any time."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

_ASKING = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}
"""What asks for an end, each with what it usually does; where that was changed, it stays so."""


class Interrupted(Exception):
    """Stands for KeyboardInterrupt on a loop, which that would bring down as a whole."""


@contextmanager
def interrupts_held() -> Iterator[Callable[[], None]]:
    """Hold back interrupts, by the keyboard and of those who end the process, and give what raises
    Interrupted if one came. Signals are the main thread's alone.
    """
    held: list[int] = []

    def raise_held() -> None:
        if held:
            raise Interrupted

    before = _hold(held) if threading.current_thread() is threading.main_thread() else {}
    try:
        yield raise_held
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _hold(held: list[int]) -> dict[signal.Signals, Any]:
    usual = [number for number, does in _ASKING.items() if signal.getsignal(number) is does]
    return {number: signal.signal(number, lambda it, _: held.append(it)) for number in usual}


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
