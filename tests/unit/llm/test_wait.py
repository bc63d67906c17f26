"""Waiting in a thread: what is cancelled is not waited for, whatever it is doing."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ricordo.llm.wait import wait_for


class Enough(Exception):
    """The person does not want it any more."""


def test_a_name_that_is_looked_up_for_ever_is_not_waited_for() -> None:
    is_looking, may_end = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def look_up() -> None:
        threads.append(threading.current_thread())
        is_looking.set()
        may_end.wait()

    async def ask() -> None:
        await asyncio.get_running_loop().run_in_executor(None, look_up)

    def step() -> None:
        if is_looking.is_set():
            raise Enough

    try:
        with pytest.raises(Enough):
            wait_for(ask(), step)
        (thread,) = threads
        # nor at the end of the process
        assert thread.is_alive()
        assert thread.daemon
    finally:
        may_end.set()


def test_what_a_thread_gives_or_raises_is_had() -> None:
    async def ask() -> list[object]:
        loop = asyncio.get_running_loop()
        tasks = (loop.run_in_executor(None, int, text) for text in ("7", "x"))
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    number, error = wait_for(ask(), lambda: None)
    assert number == 7
    assert isinstance(error, ValueError)
