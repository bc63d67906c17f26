"""Files that Ricordo writes into the settings of agents: only new ones and its own, each replaced
as a whole, and removed only while their content is what was written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256

from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.state_file import replace_file

_LARGEST = 4 * 1024 * 1024
_FILE_MODE, _PROGRAM_MODE = 0o644, 0o755


def digest_content(content: bytes) -> str:
    """Return the digest by which the record names a content."""
    return sha256(content).hexdigest()


def read_own_file(path: str) -> bytes | None:
    """Return the content of the file at `path`; None if there is no regular file that can be read.
    A symbolic link is none.
    """
    return read_plain_file(path, _LARGEST)


def create_folders(path: str) -> list[str]:
    """Create the folder `path` and missing ones above it; return those that were created, outermost
    first. Raises OSError, and then created none.
    """
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        above = os.path.dirname(path)
        if above == path:
            break
        path = above
    created: list[str] = []
    try:
        for folder in reversed(missing):
            os.mkdir(folder)
            created.append(folder)
    except OSError:
        remove_empty_folders(created)
        raise
    return created


def write_own_file(path: str, content: bytes, *, is_program: bool = False) -> None:
    """Replace the file at `path`, whose folder exists, by `content` in one step. Raises OSError."""
    folder, name = os.path.split(path)
    replace_file(folder, name, content, mode=_PROGRAM_MODE if is_program else _FILE_MODE)


def remove_own_file(path: str, digest: str) -> bool:
    """Remove the file at `path` if its content has that `digest`; return whether it is gone. Raises
    OSError.
    """
    content = read_own_file(path)
    if content is None:
        return not os.path.lexists(path)
    if digest_content(content) != digest:
        return False
    os.unlink(path)
    return True


def remove_empty_folders(folders: Iterable[str]) -> None:
    """Remove those of `folders` that are empty, innermost first."""
    for folder in sorted(folders, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(folder)
