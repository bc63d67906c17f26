"""Signals end the notebook, also where its terminal is gone."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PATIENCE = 5.0
"""Seconds for which an orderly end may take. A terminal that is gone, or that nobody reads, takes
nothing more: what paints then waits for ever, and with it all that the loop of events would do.
"""


class Ending:
    """Ends the process at the first of the signals that ask for it."""

    def __init__(self, end: Callable[[int], None]) -> None:
        """`end` leaves in order; it is called by the loop of events, with the exit code."""
        self._end = end
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[signal.Signals, Any] = {}

    def watch(self) -> None:
        """Begin to listen; called in the thread and the loop of the screen."""
        self._loop = asyncio.get_running_loop()
        # the loop's own handlers would not run while a paint keeps the loop waiting
        self._before = {number: signal.signal(number, self._asked) for number in _SIGNALS}

    def unwatch(self) -> None:
        """Leave the signals as they were."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _asked(self, number: int, frame: FrameType | None) -> None:
        # what was written is whole or not there, whenever the process ends
        at_last = threading.Timer(_PATIENCE, os._exit, (128 + number,))
        at_last.daemon = True
        at_last.start()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._end, 128 + number)
