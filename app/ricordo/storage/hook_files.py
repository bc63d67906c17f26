"""What the hooks keep in the state directory: requests to a process in the background, what
happened in a session, and the facts for the start of one.

Standard library only, and little of it: an agent waits for the hooks. Whatever is damaged counts as
missing, for all of it can be lost without harm.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import suppress

from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.state_file import (
    create_private_directory,
    open_state_file,
    replace_state_file,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

FOLDER = "hook"
INDEXING, CHECKING = "index", "check"
"""The queues of requests: of hooks, and to record and check a memory that was indexed."""
AT = "at"
"""The field of a request or a summary with its time, in seconds since the epoch."""
CHANGED = "changed"
"""The field of a session with a file that the agent changed, a note or another one."""
SUMMARY = "summary"
"""The field of a session with what the agent kept of it at a compaction."""
_LARGEST_REQUEST = 64 * 1024
_LARGEST_SESSION = 1024 * 1024
_LARGEST_FACTS = 256 * 1024
MOST_REQUESTS = 1_000
"""Requests that may be pending: if no process answers them, further ones are dropped."""
KEPT_DAYS = 30
"""Days for which a session is kept after its last line."""
_ENDING = ".json"
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST_ID = 120


class RequestQueue:
    """Requests of hooks to a process in the background; one process at a time answers them.

    A request is a file of its own, so that any number of hooks can add some at once without
    waiting for each other.
    """

    def __init__(self, state: str, name: str) -> None:
        """Use the queue `name` in the directory `state`; opens nothing."""
        self._state = os.path.join(state, FOLDER)
        self._folder = os.path.join(self._state, name)
        self._lock = f"{self._folder}.lock"

    def add(self, request: dict[str, Any]) -> None:
        """Add a request, with the time; none beyond `MOST_REQUESTS`. Raises OSError."""
        create_private_directory(self._folder)
        if len(os.listdir(self._folder)) >= MOST_REQUESTS:
            return
        name = f"{time.time_ns():020}-{os.getpid()}"
        draft = os.path.join(self._folder, f".{name}")
        handle = open_state_file(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            os.write(handle, json.dumps({AT: time.time(), **request}).encode("ascii"))
        finally:
            os.close(handle)
        os.rename(draft, os.path.join(self._folder, f"{name}{_ENDING}"))

    def take(self) -> list[dict[str, Any]]:
        """Remove the pending requests and return them, oldest first."""
        requests = []
        for path in self._list():
            raw = read_plain_file(path, _LARGEST_REQUEST)
            with suppress(OSError):
                os.unlink(path)
                request = _parse(raw or b"")
                if request is not None:
                    requests.append(request)
        return requests

    def lock(self) -> int | None:
        """Return a descriptor that holds the right to answer; None if another process has it. It
        ends with the last process that inherits the descriptor. Raises OSError.
        """
        create_private_directory(self._state)
        handle = open_state_file(self._lock, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return None
        return handle

    def answer(self, lock: int, work: Callable[[list[dict[str, Any]]], None]) -> None:
        """Call `work` with what is pending until nothing is; `lock` is given back in the end."""
        held: int | None = lock
        while held is not None:
            while requests := self.take():
                work(requests)
            os.close(held)
            # a hook that came before the lock was free counts on this
            held = self.lock() if self._list() else None

    def _list(self) -> list[str]:
        try:
            names = sorted(os.listdir(self._folder))
        except OSError:
            return []
        return [os.path.join(self._folder, name) for name in names if name.endswith(_ENDING)]


def append_to_session(state: str, session: str, record: dict[str, Any]) -> None:
    """Add a line to what is known of a session; nothing if its id cannot name a file. Raises
    OSError.
    """
    path = _session_path(state, session)
    if not path:
        return
    create_private_directory(os.path.dirname(path))
    handle = open_state_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        if os.fstat(handle).st_size < _LARGEST_SESSION:
            # one call: lines of hooks that run at once do not mix
            os.write(handle, json.dumps(record).encode("ascii") + b"\n")
    finally:
        os.close(handle)


def read_session(state: str, session: str) -> list[dict[str, Any]]:
    """Return the lines of a session, oldest first; damaged ones are left out."""
    path = _session_path(state, session)
    raw = read_plain_file(path, 2 * _LARGEST_SESSION) if path else None
    parsed = (_parse(line) for line in (raw or b"").split(b"\n"))
    return [record for record in parsed if record is not None]


def read_summaries(state: str, session: str) -> list[tuple[float, str]]:
    """Return what an agent kept of a session at its compactions, each behind the time in seconds
    since the epoch, oldest first.
    """
    records = read_session(state, session) if session else []
    return [
        (float(at) if isinstance(at := record.get(AT), int | float) else 0.0, text)
        for record in records
        if isinstance(text := record.get(SUMMARY), str)
    ]


def drop_old_sessions(state: str) -> None:
    """Remove what is known of sessions without a line for `KEPT_DAYS` days."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for path in list_session_files(state):
        with suppress(OSError):
            if os.lstat(path).st_mtime < oldest:
                os.unlink(path)


def list_session_files(state: str) -> Iterator[str]:
    """Yield the files of all sessions."""
    with suppress(OSError), os.scandir(os.path.join(state, FOLDER, "sessions")) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                yield entry.path


def _session_path(state: str, session: str) -> str:
    if not 0 < len(session) <= _LONGEST_ID or not _SAFE.issuperset(session):
        return ""
    return os.path.join(state, FOLDER, "sessions", f"{session}.jsonl")


def read_facts(index: str) -> dict[str, Any]:
    """Return the facts on the memory whose index is the file `index`; empty if there are none."""
    return _parse(read_plain_file(_facts_path(index), _LARGEST_FACTS) or b"") or {}


def save_facts(index: str, facts: dict[str, Any]) -> None:
    """Keep the facts on the memory whose index is the file `index`. Raises OSError."""
    folder, name = os.path.split(_facts_path(index))
    raw = json.dumps(facts).encode("ascii")
    if len(raw) <= _LARGEST_FACTS:
        replace_state_file(folder, name, raw, is_synced=False)


def _facts_path(index: str) -> str:
    return f"{index.removesuffix('.db')}.facts.json"


_VERDICTS = "handoffs.json"
_MOST_VERDICTS = 200


def read_handoff_verdict(state: str, path: str) -> dict[str, Any]:
    """Return the last verdict on the handoff in the file `path`; empty if it was not verified since
    it was written.
    """
    verdict = _read_verdicts(state).get(path)
    is_current = isinstance(verdict, dict) and verdict.get("file") == _stamp(path)
    return verdict if is_current and verdict is not None else {}


def save_handoff_verdict(state: str, path: str, verdict: dict[str, Any]) -> None:
    """Keep the verdict on the handoff in the file `path` as it is now. Raises OSError."""
    verdicts = _read_verdicts(state)
    verdicts.pop(path, None)
    verdicts[path] = {**verdict, "file": _stamp(path)}
    newest = dict(list(verdicts.items())[-_MOST_VERDICTS:])
    raw = json.dumps(newest).encode("ascii")
    replace_state_file(os.path.join(state, FOLDER), _VERDICTS, raw, is_synced=False)


def _read_verdicts(state: str) -> dict[str, Any]:
    raw = read_plain_file(os.path.join(state, FOLDER, _VERDICTS), _LARGEST_FACTS)
    return _parse(raw or b"") or {}


def _stamp(path: str) -> list[int]:
    try:
        status = os.lstat(path)
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns]


def _parse(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
