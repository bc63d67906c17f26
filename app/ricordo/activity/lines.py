"""The lines of a file that a program may still be writing, within little memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import NamedTuple

from ricordo.disk.plain_file import open_plain_file

LONGEST_LINE = 4 * 1024 * 1024
"""Bytes. Longer ones hold images and output of tools; parsed, each would take many times its
length.
"""
_PIECE = 256 * 1024
_CHECKED = 4096
"""Bytes at the start, and before the place to which a file was read, by which it is recognised."""


class Line(NamedTuple):
    """One line of a file."""

    offset: int
    """Of its first byte."""
    number: int
    """1-based."""
    raw: bytes | None
    """Without the line feed; None where the line is longer than `LONGEST_LINE`."""
    is_ended: bool
    """Whether its line feed has been written."""
    end: int
    """The offset behind it."""


class LineFile:
    """A file of lines that is open for reading."""

    def __init__(self, handle: int) -> None:
        """`handle` is a file descriptor, which stays the caller's."""
        self._handle = handle
        self.size = os.fstat(handle).st_size
        """In bytes, when it was opened; what is written later is left for another time."""

    def fingerprint(self, upto: int) -> str:
        """Return what shows that the file is the one that was read up to there. Files of agents are
        only added to, so its start and the bytes before that place tell. Raises OSError.
        """
        start = os.pread(self._handle, min(_CHECKED, upto), 0)
        before = os.pread(self._handle, min(_CHECKED, upto), max(0, upto - _CHECKED))
        return blake2b(start + before + str(upto).encode(), digest_size=12).hexdigest()

    def lines(self, offset: int = 0, number: int = 1) -> Iterator[Line]:
        """Yield each line from `offset` on, where line `number` begins. Raises OSError."""
        kept: list[bytes] = []
        length, at = 0, offset
        while at < self.size and (piece := os.pread(self._handle, min(_PIECE, self.size - at), at)):
            at += len(piece)
            start = 0
            while (end := piece.find(b"\n", start)) >= 0:
                length += end - start
                raw = b"".join([*kept, piece[start:end]]) if length <= LONGEST_LINE else None
                kept.clear()
                after = offset + length + 1
                yield Line(offset, number, raw, True, after)
                # nothing but what is looked at is held: it may be large
                del raw
                offset, number, length, start = after, number + 1, 0, end + 1
            length += len(piece) - start
            if length <= LONGEST_LINE:
                kept.append(piece[start:])
            else:
                kept.clear()
        if length:
            raw = b"".join(kept) if length <= LONGEST_LINE else None
            yield Line(offset, number, raw, False, offset + length)


@contextmanager
def opened(path: str) -> Iterator[LineFile | None]:
    """Give the file at `path`; None where no plain file is there or it cannot be opened."""
    handle = open_plain_file(path)
    if handle is None:
        yield None
        return
    try:
        yield LineFile(handle)
    finally:
        os.close(handle)
