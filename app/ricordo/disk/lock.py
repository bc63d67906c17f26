"""The lock under which files change: one process at a time, for as long as a change set takes."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ricordo.errors import Busy, StateUnusable
from ricordo.text import visible

PATIENCE = 5.0
"""Seconds for which a process waits for another one."""
_PAUSE = 0.02
_FILE = "lock"


@contextmanager
def state_lock(state: str, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of the state directory, which is made where it is missing.

    Raises Busy where another process holds it for longer than `patience` seconds, with who that
    is, and StateUnusable. The lock ends with the process, however it ends.
    """
    path = os.path.join(state, _FILE)
    try:
        os.makedirs(state, mode=0o700, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise StateUnusable(
            f"The history at {visible(state)} cannot be used: {error.strerror}."
        ) from None
    try:
        _wait(handle, path, time.monotonic() + patience)
        _sign(handle)
        yield
    finally:
        os.close(handle)


def _sign(handle: int) -> None:
    """Write down who holds the lock, for others to tell; on a full disk nobody is named."""
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)


def _wait(handle: int, path: str, until: float) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                holder = os.pread(handle, 20, 0).decode("ascii", "replace") or "unknown"
                raise Busy(f"Process {visible(holder)} is changing files ({path}).") from None
        except OSError as error:
            raise StateUnusable(f"{visible(path)} cannot be locked: {error.strerror}.") from None
        time.sleep(_PAUSE)
