"""The locks of the state directory. Files change under one of them: one process at a time, for as
long as a change set takes. Under the other one processes share the history, which none of them may
put in another place meanwhile.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ricordo.errors import Busy, StateUnusable
from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.state_file import make_private_directory, open_state_file
from ricordo.text import visible

PATIENCE = 5.0
"""Seconds for which a process waits for another one."""
_PAUSE = 0.02
_CHANGING = "lock"
_SHARING = "history.lock"
_COUNTING = "model.lock"


@contextmanager
def state_lock(state: str, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock under which files change; the state directory is made where it is missing.

    Raises Busy where another process holds it for longer than `patience` seconds, with who that
    is, and StateUnusable. The lock ends with the process, however it ends.
    """
    with _opened(state, _CHANGING) as (handle, path):
        if not _is_locked_in_turn(state, _CHANGING, handle, path, patience):
            holder = os.pread(handle, 20, 0).decode("ascii", "replace") or "unknown"
            raise Busy(f"Process {visible(holder)} is changing files ({path}).")
        _sign(handle)
        yield


@contextmanager
def history_lock(state: str, *, alone: bool, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock under which the history stays where it is; `alone` to move it.

    Raises Busy where others hold it for longer than `patience` seconds, and StateUnusable.
    """
    with _opened(state, _SHARING) as (handle, path):
        kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        if not _is_locked(handle, path, kind, time.monotonic() + patience):
            raise Busy(f"Another process goes on using the history ({path}).")
        yield


@contextmanager
def counting_lock(state: str, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock under which it is counted what models cost. Raises Busy where another process
    holds it for longer than `patience` seconds, and StateUnusable.
    """
    with _opened(state, _COUNTING) as (handle, path):
        if not _is_locked_in_turn(state, _COUNTING, handle, path, patience):
            raise Busy(f"Another process goes on counting what models cost ({path}).")
        yield


@contextmanager
def _opened(state: str, name: str) -> Iterator[tuple[int, str]]:
    path = os.path.join(state, name)
    try:
        make_private_directory(state)
        handle = open_state_file(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise StateUnusable(f"The lock {visible(path)} cannot be used: {error.strerror}.") from None
    try:
        yield handle, visible(path)
    finally:
        os.close(handle)


def _sign(handle: int) -> None:
    """Write down who holds the lock, for others to tell; on a full disk nobody is named."""
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)


def _is_locked_in_turn(state: str, name: str, handle: int, path: str, patience: float) -> bool:
    """Take the lock `name`, open as `handle`, for this process alone; return whether that was
    possible within `patience` seconds. Whoever waits is next: a process that has just held the lock
    waits behind it, however often it asks.
    """
    until = time.monotonic() + patience
    with _opened(state, f"{name}.next") as (turn, turn_path):
        return _is_locked(turn, turn_path, fcntl.LOCK_EX, until) and _is_locked(
            handle, path, fcntl.LOCK_EX, until
        )


def _is_locked(handle: int, path: str, kind: int, until: float) -> bool:
    """Take a lock; say whether that was possible `until` then, by the steady clock."""
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


LOCK = ".consolidate-lock"
STALE_AFTER = 3600.0
"""Seconds."""
UNSEEN_FOR = 600.0
"""Seconds for which the lock of a process that we do not see counts: it may run in a container."""
CONSOLIDATION_PATIENCE = 5.0
"""Seconds for which we wait."""
_CONSOLIDATION_PAUSE = 0.05


def wait_for_agents(root: str, patience: float | None = None) -> None:
    """Return once no agent consolidates the memory at `root`.

    Raises Busy where one still does after `patience` seconds (`PATIENCE`).
    """
    until = time.monotonic() + (CONSOLIDATION_PATIENCE if patience is None else patience)
    while is_consolidating(root):
        if time.monotonic() >= until:
            raise Busy(
                f"An agent is consolidating this memory ({visible(os.path.join(root, LOCK))}). "
                "Try again when it is done."
            )
        time.sleep(_CONSOLIDATION_PAUSE)


def is_consolidating(root: str) -> bool:
    """Say whether an agent holds the memory at `root`."""
    path = os.path.join(root, LOCK)
    try:
        age = time.time() - os.lstat(path).st_mtime
    except OSError:
        return False
    if age > STALE_AFTER:
        return False
    body = (read_plain_file(path, 20) or b"").strip()
    return age < UNSEEN_FOR or not body.isdigit() or _is_running(int(body))


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
