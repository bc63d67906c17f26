"""Caches, which can be rebuilt from other files: their paths, and whether they are intact.

A cache is sealed with the checksum of its bytes. After a killed process, a flipped bit or a
foreign write the seal does not match, and the cache is rebuilt; so writes need not be synced.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from zlib import crc32

from ricordo import __version__
from ricordo.resources import find_data_file
from ricordo.storage.database import check_state_location
from ricordo.storage.foreign_file import read_json, read_plain_file
from ricordo.storage.state_file import (
    create_private_directory,
    create_state_file,
    open_state_file,
    replace_state_file,
)

_ENDINGS = ("", "-journal", "-wal", "-shm")
_PIECE = 1 << 17
"""Bytes that are read at once: a piece that stays in the processor's cache is summed twice as fast
as a larger one.
"""


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
        replace_state_file(self.folder, f"{self.name}.seal", text.encode("ascii"), is_synced=False)

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


_JUDGING = ("agents", "lint", "memory", "search", "secrets", "storage")
"""The packages on which findings depend, besides the modules that are in none."""


@cache
def compute_code_stamp() -> str:
    """Return a digest that changes with the code and data on which findings depend, so that cached
    results of other code are not used.
    """
    package = os.path.dirname(find_data_file("__init__.py"))
    stamps = [__version__, sys.version]
    for name in ("", *_JUDGING):
        stamps += _list_stamps(os.path.join(package, name), is_whole=bool(name))
    return sha256("\0".join(stamps).encode("utf-8", "surrogateescape")).hexdigest()


def _list_stamps(folder: str, *, is_whole: bool) -> list[str]:
    """Return name, size and time of each file in a folder, and in those in it if `is_whole`."""
    stamps: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_file():
                status = entry.stat()
                stamps.append(f"{entry.name} {status.st_size} {status.st_mtime_ns}")
            elif is_whole and entry.name != "__pycache__":
                stamps += [f"{entry.name}/", *_list_stamps(entry.path, is_whole=True)]
    return stamps


_COMPARED, _JUDGED = "compared", "judged"
"""The folders of the results of comparing notes, and of judging and checking them."""
_LARGEST = 16 * 1024 * 1024

Row = tuple[str, str, int, int, str, int, int, str]
"""The relation of two notes; of each its path, and where its statement starts and ends in its text,
0 and 0 for the whole note; the reason.
"""


def load_comparison(state: str, root: str, stamp: str) -> list[Row] | None:
    """Return the cached comparison of the memory at `root` with that `stamp`; None if there is
    none.
    """
    rows = _load(state, _COMPARED, root, stamp).get("pairs")
    if not isinstance(rows, list) or not all(_is_row(row) for row in rows):
        return None
    return [(*row,) for row in rows]


def save_comparison(state: str, root: str, stamp: str, rows: list[Row]) -> None:
    """Cache the result of comparing notes. Raises OSError."""
    _save(state, _COMPARED, root, {"stamp": stamp, "pairs": rows})


def load_judgement(state: str, key: str, stamp: str) -> dict[str, object]:
    """Return the cached results `key` of judging notes with that `stamp`; empty if there are none.
    They are JSON values, of which a caller has to check the form.
    """
    return _load(state, _JUDGED, key, stamp)


def save_judgement(state: str, key: str, stamp: str, results: dict[str, object]) -> None:
    """Cache the results `key` of judging notes, which JSON can represent. Raises OSError."""
    _save(state, _JUDGED, key, {**results, "stamp": stamp})


def _load(state: str, folder: str, key: str, stamp: str) -> dict[str, object]:
    document, _ = read_json(os.path.join(state, folder, _name(key)), _LARGEST)
    is_valid = isinstance(document, dict) and document.get("stamp") == stamp
    return document if isinstance(document, dict) and is_valid else {}


def _save(state: str, folder: str, key: str, document: dict[str, object]) -> None:
    text = json.dumps(document)
    replace_state_file(
        os.path.join(state, folder), _name(key), text.encode("ascii"), is_synced=False
    )


def _name(key: str) -> str:
    return f"{sha256(os.fsencode(key)).hexdigest()[:16]}.json"


def _is_row(row: object) -> bool:
    kinds = (str, str, int, int, str, int, int, str)
    return (
        isinstance(row, list)
        and len(row) == len(kinds)
        and all(isinstance(value, kind) for value, kind in zip(row, kinds, strict=True))
    )
