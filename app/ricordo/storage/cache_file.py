"""Files that are made from others and may be lost: where they lie, and whether they are whole.

A cache is sealed with the checksum of its bytes. Whatever happens to it, a killed process, a
flipped bit, somebody else's write, the seal no longer fits, and the cache is made anew.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import sha256
from zlib import crc32

from ricordo.storage.database import refuse_unfit
from ricordo.storage.foreign_file import read_json, read_plain_file
from ricordo.storage.state_file import (
    make_private_directory,
    make_state_file,
    open_state_file,
    replace_state_file,
)

_ENDINGS = ("", "-journal", "-wal", "-shm")
_PIECE = 1 << 20


class CacheFile:
    """One SQLite file that is a cache, in a folder of the state directory."""

    def __init__(self, state: str, folder: str, key: str) -> None:
        """`key` is what the cache is of; nothing is touched."""
        self.state = state
        self.folder = os.path.join(state, folder)
        name = sha256(os.fsencode(key)).hexdigest()[:16]
        self.name = f"{name}.db"
        self.path = os.path.join(self.folder, self.name)
        self.draft = f"{self.path}.new"
        """Where a new one is made; it takes its place when it is whole."""

    def prepare(self) -> None:
        """Make the folder and clear the draft. Raises OSError and StateUnusable."""
        if not os.path.isdir(self.state):
            refuse_unfit(self.state)
        make_private_directory(self.folder)
        _remove(self.draft)
        make_state_file(self.folder, os.path.basename(self.draft))

    def publish(self) -> None:
        """Put the draft in its place. Raises OSError."""
        for ending in _ENDINGS[1:]:
            _remove(self.path + ending)
        os.replace(self.draft, self.path)

    def seal(self) -> None:
        """Say that the file is whole as it is now. Raises OSError."""
        text = f"{self.facts()} {_checksum(self.path)}"
        replace_state_file(self.folder, f"{self.name}.seal", text.encode("ascii"))

    def is_whole(self) -> bool:
        """Say whether the file is, byte for byte, what was sealed."""
        kept = read_plain_file(f"{self.path}.seal", 200)
        try:
            return bool(kept) and kept == f"{self.facts()} {_checksum(self.path)}".encode("ascii")
        except OSError:
            return False

    def facts(self) -> str:
        """Return what shows that somebody wrote the file. Raises OSError."""
        status = os.stat(self.path)
        return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"


def remove_cache(path: str) -> None:
    """Remove the cache at `path` with its seal and what SQLite keeps beside it. Raises OSError."""
    for ending in (*_ENDINGS, ".seal"):
        _remove(path + ending)


def put_aside(path: str) -> None:
    """Rename the SQLite file at `path` to `<path>.unfit`, over an earlier one. Raises OSError."""
    # the journal first: left behind, it would be played into the next file
    for ending in (*_ENDINGS[1:], ""):
        with suppress(FileNotFoundError):
            os.replace(path + ending, f"{path}.unfit{ending}")


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _checksum(path: str) -> int:
    checksum = 0
    handle = open_state_file(path, os.O_RDONLY)
    try:
        while piece := os.read(handle, _PIECE):
            checksum = crc32(piece, checksum)
    finally:
        os.close(handle)
    return checksum


_FOLDER = "compared"
_LARGEST = 16 * 1024 * 1024

Row = tuple[str, str, int, str, int]
"""What two notes are to each other, and of each its path and which of its statements."""


def recall_compared(state: str, root: str, stamp: str) -> list[Row] | None:
    """Return what was kept of the memory at `root` in the state of that `stamp`; None where there
    is nothing.
    """
    document, _ = read_json(os.path.join(state, _FOLDER, _name(root)), _LARGEST)
    if not isinstance(document, dict) or document.get("stamp") != stamp:
        return None
    rows = document.get("pairs")
    if not isinstance(rows, list) or not all(_is_row(row) for row in rows):
        return None
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]


def remember_compared(state: str, root: str, stamp: str, rows: list[Row]) -> None:
    """Keep what came of comparing. Raises OSError."""
    text = json.dumps({"stamp": stamp, "pairs": rows})
    replace_state_file(os.path.join(state, _FOLDER), _name(root), text.encode("ascii"))


def _name(root: str) -> str:
    return f"{sha256(os.fsencode(root)).hexdigest()[:16]}.json"


def _is_row(row: object) -> bool:
    kinds = (str, str, int, str, int)
    return (
        isinstance(row, list)
        and len(row) == len(kinds)
        and all(isinstance(value, kind) for value, kind in zip(row, kinds, strict=True))
    )
