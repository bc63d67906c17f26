"""The lines of a file that a program may still be writing, read within little memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from ricordo.storage.foreign_file import open_plain_file

LONGEST_LINE = 4 * 1024 * 1024
"""Bytes. Longer ones hold images and output of tools; parsed, each would take many times its
length.
"""
_PIECE = 256 * 1024
_CHECKED = 4096
"""Bytes at the start, and before the offset to which a file was read, that identify it."""


class FileLine(NamedTuple):
    """One line of a file."""

    offset: int
    """The offset of its first byte."""
    number: int
    """1-based."""
    raw: bytes | None
    """Without the line feed; None if the line is longer than `LONGEST_LINE`."""
    is_ended: bool
    """Whether its line feed has been written."""
    end: int
    """The offset after it."""


class LineFile:
    """A file of lines that is open for reading."""

    def __init__(self, handle: int) -> None:
        """`handle` is a file descriptor, which stays the caller's."""
        self._handle = handle
        self.size = os.fstat(handle).st_size
        """In bytes, when it was opened; what is written later is not read."""

    def fingerprint(self, upto: int) -> str:
        """Return what identifies the file that was read up to `upto`. Agents only append to their
        files, so its start and the bytes before that offset do. Raises OSError.
        """
        start = os.pread(self._handle, min(_CHECKED, upto), 0)
        before = os.pread(self._handle, min(_CHECKED, upto), max(0, upto - _CHECKED))
        return blake2b(start + before + str(upto).encode(), digest_size=12).hexdigest()

    def lines(self, offset: int = 0, number: int = 1) -> Iterator[FileLine]:
        """Yield each line from `offset` on, where line `number` begins. Raises OSError."""
        pieces: list[bytes] = []
        length, at = 0, offset
        while at < self.size and (piece := os.pread(self._handle, min(_PIECE, self.size - at), at)):
            at += len(piece)
            start = 0
            while (end := piece.find(b"\n", start)) >= 0:
                length += end - start
                raw = b"".join([*pieces, piece[start:end]]) if length <= LONGEST_LINE else None
                pieces.clear()
                after = offset + length + 1
                yield FileLine(offset, number, raw, True, after)
                # free the line at once: it may be large
                del raw
                offset, number, length, start = after, number + 1, 0, end + 1
            length += len(piece) - start
            if length <= LONGEST_LINE:
                pieces.append(piece[start:])
            else:
                pieces.clear()
        if length:
            raw = b"".join(pieces) if length <= LONGEST_LINE else None
            yield FileLine(offset, number, raw, False, offset + length)


@contextmanager
def open_lines(path: str) -> Iterator[LineFile | None]:
    """Give the file at `path`; None if it is not a plain file or cannot be opened."""
    handle = open_plain_file(path)
    if handle is None:
        yield None
        return
    try:
        yield LineFile(handle)
    finally:
        os.close(handle)


LONGEST_TEXT = 32_000
"""Characters of a message that are read."""
LONGEST_QUOTED = 256_000
"""Characters of a message of the user, and of a summary of a compaction: these are quoted whole."""


def as_text(value: object) -> str:
    """Return `value` if it is a text, with what is not UTF-8 replaced; else ""."""
    if not isinstance(value, str):
        return ""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode()
    return value


def cut(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return `text`, cut at `longest` characters."""
    return text if len(text) <= longest else f"{text[:longest]} …"


def as_dict(value: object) -> dict[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_dicts(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects in `value` if it is a list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def parse_object(raw: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object in `raw`; None if it is none."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_text(raw: bytes) -> str:
    """Return the text of the JSON string in `raw`; "" if it is none."""
    try:
        return as_text(json.loads(raw))
    except (ValueError, RecursionError):
        return ""


def read_exit_code(value: object) -> int | None:
    """Return the exit code that `value` is, a number of at most 32 bits; None if it is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if -(2**31) <= value < 2**32 else None


def parse_time(value: object) -> str:
    """Return a time as ISO 8601 in UTC, with milliseconds; "" if it is none. Numbers are
    milliseconds since 1970.
    """
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            at = datetime.fromtimestamp(value / 1000, UTC)
        else:
            return ""
        at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return at.isoformat(timespec="milliseconds")
