"""Caches, which can be rebuilt from other files: their paths, and whether they are intact.

A cache is sealed with the checksum of its bytes. After a killed process, a flipped bit or a
foreign write the seal does not match, and the cache is rebuilt; so writes need not be synced.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import sha256
from zlib import crc32

from ricordo.storage.database import check_state_location
from ricordo.storage.foreign_file import read_json, read_plain_file
from ricordo.storage.state_file import (
    create_private_directory,
    create_state_file,
    open_state_file,
    replace_state_file,
)

_ENDINGS = ("", "-journal", "-wal", "-shm")
_PIECE = 1 << 20


class CacheFile:
    """A SQLite cache in a folder of the state directory."""

    def __init__(self, state: str, folder: str, key: str) -> None:
        """Name the cache of `key`, such as the path of a memory; opens no file."""
        self.state = state
        self.folder = os.path.join(state, folder)
        name = sha256(os.fsencode(key)).hexdigest()[:16]
        self.name = f"{name}.db"
        self.path = os.path.join(self.folder, self.name)
        self.draft = f"{self.path}.new"
        """The path of a new cache until it is complete."""

    def prepare(self) -> None:
        """Create the folder and an empty draft. Raises OSError and StateUnusable."""
        if not os.path.isdir(self.state):
            check_state_location(self.state)
        create_private_directory(self.folder)
        _remove(self.draft)
        create_state_file(self.folder, os.path.basename(self.draft))

    def publish(self) -> None:
        """Replace the cache by the draft. Raises OSError."""
        for ending in _ENDINGS[1:]:
            _remove(self.path + ending)
        os.replace(self.draft, self.path)

    def seal(self) -> None:
        """Record the checksum of the file as it is now. Raises OSError."""
        text = f"{self.compute_fingerprint()} {_checksum(self.path)}"
        replace_state_file(self.folder, f"{self.name}.seal", text.encode("ascii"))

    def is_intact(self) -> bool:
        """Return whether the file is, byte for byte, the sealed one."""
        seal = read_plain_file(f"{self.path}.seal", 200)
        try:
            return bool(
                seal
            ) and seal == f"{self.compute_fingerprint()} {_checksum(self.path)}".encode("ascii")
        except OSError:
            return False

    def compute_fingerprint(self) -> str:
        """Return a text that changes when the file is written. Raises OSError."""
        status = os.stat(self.path)
        return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"


def remove_cache(path: str) -> None:
    """Remove the cache at `path`, its seal and SQLite's files for it. Raises OSError."""
    for ending in (*_ENDINGS, ".seal"):
        _remove(path + ending)


def move_aside(path: str) -> None:
    """Rename the SQLite file at `path` to `<path>.unfit`, over an earlier one. Raises OSError."""
    # the journal first: otherwise SQLite would replay it into the next file
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
"""The relation of two notes, then of each note its path and the number of its statement."""


def load_comparison(state: str, root: str, stamp: str) -> list[Row] | None:
    """Return the cached comparison of the memory at `root` with that `stamp`; None if there is
    none.
    """
    document, _ = read_json(os.path.join(state, _FOLDER, _name(root)), _LARGEST)
    if not isinstance(document, dict) or document.get("stamp") != stamp:
        return None
    rows = document.get("pairs")
    if not isinstance(rows, list) or not all(_is_row(row) for row in rows):
        return None
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]


def save_comparison(state: str, root: str, stamp: str, rows: list[Row]) -> None:
    """Cache the result of comparing notes. Raises OSError."""
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
