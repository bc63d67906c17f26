"""Wait in a thread for a coroutine on an event loop, so that it can be cancelled at any time."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

_HANDLERS = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}
"""Signals that ask for an end, with their default handlers; a handler that was changed stays."""


class _Interrupted(Exception):
    """Replaces KeyboardInterrupt on an event loop, which that would bring down."""


@contextmanager
def _hold_interrupts() -> Iterator[Callable[[], None]]:
    """Hold back SIGINT, SIGTERM and SIGHUP, and yield a function that raises _Interrupted if one
    came. Only the main thread receives signals.
    """
    held: list[int] = []

    def raise_held() -> None:
        if held:
            raise _Interrupted

    before = (
        _replace_handlers(held) if threading.current_thread() is threading.main_thread() else {}
    )
    try:
        yield raise_held
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _replace_handlers(held: list[int]) -> dict[signal.Signals, Any]:
    default = [number for number, does in _HANDLERS.items() if signal.getsignal(number) is does]
    return {number: signal.signal(number, lambda got, _: held.append(got)) for number in default}


_POLL_INTERVAL = 0.1
"""Seconds between two checks for a cancellation."""

T = TypeVar("T")


def run_interruptibly(work: Callable[[Callable[[], None]], T], step: Callable[[], None]) -> T:
    """Return the result of `work`, and raise what it raises. It is given a function to call often,
    which calls `step` and may raise; an interrupt ends it there and is raised as KeyboardInterrupt.
    """
    with _hold_interrupts() as raise_held:

        def check_interrupt() -> None:
            raise_held()
            step()

        try:
            result = work(check_interrupt)
            raise_held()
            return result
        except _Interrupted:
            raise KeyboardInterrupt from None


def wait_for(asking: Coroutine[Any, Any, T], step: Callable[[], None]) -> T:
    """Return the result of `asking`. `step` is called ten times a second; what it raises cancels
    `asking` and is raised here, as is KeyboardInterrupt for any interrupt.
    """
    return run_interruptibly(lambda check: _run(_watch(asking, check)), step)


def _run(watched: Coroutine[Any, Any, T]) -> T:
    import asyncio

    loop = asyncio.new_event_loop()
    loop.set_default_executor(_DaemonExecutor())
    task = loop.create_task(watched)
    try:
        return loop.run_until_complete(task)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


class _DaemonExecutor(ThreadPoolExecutor):
    """Daemon threads that nothing waits for, not even the end of the process: a DNS lookup takes as
    long as the network likes and cannot be cancelled.
    """

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run `fn` in a new daemon thread."""
        future: Future[T] = Future()

        def work() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except Exception as error:
                future.set_exception(error)

        if future.set_running_or_notify_cancel():
            threading.Thread(target=work, daemon=True).start()
        return future


async def _watch(asking: Coroutine[Any, Any, T], step: Callable[[], None]) -> T:
    import asyncio

    task = asyncio.ensure_future(asking)
    try:
        while not task.done():
            step()
            await asyncio.wait({task}, timeout=_POLL_INTERVAL)
        return task.result()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task
