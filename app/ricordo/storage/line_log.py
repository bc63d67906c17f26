"""An append-only log of JSON objects in the state directory, one per line.

Every complete line can be read, even after a crash: a torn line ends at the next line feed. A value
is purged in place, so that a line added at the same time is not lost, and no old copy of the file
remains on the disk.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.state_file import create_state_file, open_state_file

_LARGEST = 64 * 1024 * 1024
_MASK = b"*"


def append_line(folder: str, name: str, record: Mapping[str, Any]) -> None:
    """Append an object durably to the log `name` in `folder`. Raises OSError."""
    create_state_file(folder, name)
    handle = open_state_file(os.path.join(folder, name), os.O_APPEND | os.O_RDWR)
    try:
        # start on a new line if the last writer was killed in the middle of one
        size = os.fstat(handle).st_size
        is_torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        line = b"\n" * is_torn + json.dumps(record).encode("ascii") + b"\n"
        while line:
            line = line[os.write(handle, line) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def read_lines(folder: str, name: str) -> Iterator[dict[str, Any] | None]:
    """Yield the objects of the log, oldest first; None for a line that cannot be read."""
    raw = read_plain_file(os.path.join(folder, name), _LARGEST) or b""
    for line in raw.split(b"\n"):
        if not line.strip():
            continue
        record: object = None
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
        yield record if isinstance(record, dict) else None


def purge_lines(folder: str, name: str, value: str) -> int:
    """Overwrite `value` everywhere in the log; return how often it occurred. Raises OSError."""
    forms = {json.dumps(value)[1:-1].encode("ascii"), value.encode("utf-8", "surrogateescape")}
    path = os.path.join(folder, name)
    raw = read_plain_file(path, _LARGEST)
    if raw is None or not any(form and form in raw for form in forms):
        return 0
    handle = open_state_file(path, os.O_WRONLY)
    try:
        count = sum(_mask(handle, raw, form) for form in forms if form)
        os.fsync(handle)
    finally:
        os.close(handle)
    return count


def _mask(handle: int, raw: bytes, form: bytes) -> int:
    count, at = 0, raw.find(form)
    while at >= 0:
        os.pwrite(handle, _MASK * len(form), at)
        count, at = count + 1, raw.find(form, at + len(form))
    return count
