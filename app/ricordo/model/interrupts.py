"""Interrupts that wait for a moment at which nothing is left behind that nobody ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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
