"""The locks of the state directory. One is held while a change set is written, by one process at a
time. The history lock is shared by all users of the history, so that none of them moves it. The
cost lock is held while model costs are counted.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ricordo.errors import Busy, StateUnusable
from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.state_file import create_private_directory, open_state_file
from ricordo.text import make_visible

PATIENCE = 5.0
"""Seconds to wait for another process."""
_PAUSE = 0.02
_CHANGING = "lock"
_SHARING = "history.lock"
_COUNTING = "model.lock"


@contextmanager
def state_lock(state: str, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock for changing files; the state directory is created if missing.

    Raises Busy, naming the process, if another one holds it for longer than `patience` seconds, and
    StateUnusable. The lock ends with the process, however it ends.
    """
    with _opened(state, _CHANGING) as (handle, path):
        if not _is_locked_in_turn(state, _CHANGING, handle, path, patience):
            holder = os.pread(handle, 20, 0).decode("ascii", "replace") or "unknown"
            raise Busy(f"Process {make_visible(holder)} is changing files ({path}).")
        _sign(handle)
        yield


@contextmanager
def history_lock(state: str, *, alone: bool, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock that keeps the history in place, shared; with `alone`, exclusively, to move it.

    Raises Busy if others hold it for longer than `patience` seconds, and StateUnusable.
    """
    with _opened(state, _SHARING) as (handle, path):
        kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        if not _is_locked(handle, path, kind, time.monotonic() + patience):
            raise Busy(f"Another process is using the history ({path}).")
        yield


@contextmanager
def cost_lock(state: str, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock for counting model costs. Raises Busy if another process holds it for longer
    than `patience` seconds, and StateUnusable.
    """
    with _opened(state, _COUNTING) as (handle, path):
        if not _is_locked_in_turn(state, _COUNTING, handle, path, patience):
            raise Busy(f"Another process is counting model costs ({path}).")
        yield


@contextmanager
def _opened(state: str, name: str) -> Iterator[tuple[int, str]]:
    path = os.path.join(state, name)
    try:
        create_private_directory(state)
        handle = open_state_file(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise StateUnusable(
            f"The lock {make_visible(path)} cannot be used: {error.strerror}."
        ) from None
    try:
        yield handle, make_visible(path)
    finally:
        os.close(handle)


def _sign(handle: int) -> None:
    """Write this process's id to the lock, for messages of others; not on a full disk."""
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)


def _is_locked_in_turn(state: str, name: str, handle: int, path: str, patience: float) -> bool:
    """Take the lock `name`, open as `handle`, exclusively; return whether that was possible within
    `patience` seconds. A waiting process is next: one that just released the lock queues behind it.
    """
    until = time.monotonic() + patience
    with _opened(state, f"{name}.next") as (turn, turn_path):
        return _is_locked(turn, turn_path, fcntl.LOCK_EX, until) and _is_locked(
            handle, path, fcntl.LOCK_EX, until
        )


def _is_locked(handle: int, path: str, kind: int, until: float) -> bool:
    """Take a lock; return whether that was possible `until` then, by the monotonic clock."""
    while True:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
        except OSError as error:
            raise StateUnusable(f"{path} cannot be locked: {error.strerror}.") from None
        time.sleep(_PAUSE)


CONSOLIDATION_LOCK = ".consolidate-lock"
STALE_AFTER = 3600.0
"""Seconds."""
INVISIBLE_STALE_AFTER = 600.0
"""Seconds for which the lock of an invisible process counts: it may run in a container."""
CONSOLIDATION_PATIENCE = 5.0
"""Seconds to wait for an agent."""
_CONSOLIDATION_PAUSE = 0.05


def wait_for_agents(root: str, patience: float | None = None) -> None:
    """Wait until no agent consolidates the memory at `root`.

    Raises Busy if one still does after `patience` seconds, `CONSOLIDATION_PATIENCE` if None.
    """
    until = time.monotonic() + (CONSOLIDATION_PATIENCE if patience is None else patience)
    while is_consolidating(root):
        if time.monotonic() >= until:
            raise Busy(
                "An agent is consolidating this memory "
                f"({make_visible(os.path.join(root, CONSOLIDATION_LOCK))}).",
                hint="Try again when it is done.",
            )
        time.sleep(_CONSOLIDATION_PAUSE)


def is_consolidating(root: str) -> bool:
    """Return whether an agent is consolidating the memory at `root`."""
    path = os.path.join(root, CONSOLIDATION_LOCK)
    try:
        age = time.time() - os.lstat(path).st_mtime
    except OSError:
        return False
    if age > STALE_AFTER:
        return False
    body = (read_plain_file(path, 20) or b"").strip()
    return age < INVISIBLE_STALE_AFTER or not body.isdigit() or _is_running(int(body))


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
