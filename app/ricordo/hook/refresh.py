"""A process in the background that brings the index up to what agents wrote.

The agent never waits for it: the hook leaves a request and, unless a process is already answering
requests, starts one that is detached from the agent.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from ricordo.storage.hook_files import INDEXING, RequestQueue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TIMEOUT = 300
"""Seconds after which the kernel ends the process, whatever it is doing."""
_NICENESS = 10
_MOST_HANDLES = 256


def request_refresh(state: str, request: dict[str, Any]) -> None:
    """Leave a request, and start a process that answers it if none is running. Raises OSError."""
    queue = RequestQueue(state, INDEXING)
    queue.add(request)
    lock = queue.lock()
    if lock is None:
        # the process that has it looks for requests once more after it gave it back
        return
    if os.fork():
        os.close(lock)
        return
    try:
        _detach(lock)
        from ricordo.services.connect.requests import answer_requests

        answer_requests(state, lock)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _detach(lock: int) -> None:
    """Leave the agent's session, pipes and directory; keep the descriptor `lock`."""
    os.setsid()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(TIMEOUT)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.closerange(3, lock)
    os.closerange(lock + 1, _MOST_HANDLES)
    os.chdir("/")
    with suppress(OSError):
        os.nice(_NICENESS)
