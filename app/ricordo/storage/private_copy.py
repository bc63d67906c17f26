"""Copies of notes for an editor: in the state directory, for this user only, each in its own
folder, so that the file keeps its name and the editor's extra files are removed with it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ricordo.errors import StateUnusable
from ricordo.storage.foreign_file import read_plain_file
from ricordo.text import make_visible

_FOLDER = "editing"
_LARGEST = 64 * 1024 * 1024


def write_private_copy(state: str, name: str, content: bytes) -> str:
    """Write `content` to a new file called `name`; return its path. Raises StateUnusable."""
    folder = os.path.join(state, _FOLDER)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(tempfile.mkdtemp(dir=folder), name)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except OSError as error:
        raise StateUnusable(
            f"The editor's copy cannot be written to {make_visible(folder)}: {error.strerror}."
        ) from None
    return path


def read_private_copy(path: str) -> bytes | None:
    """Return the content of the copy at `path`; None if it is gone."""
    return read_plain_file(path, _LARGEST)


def remove_private_copy(path: str) -> None:
    """Remove a copy with its folder."""
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)


@contextmanager
def temporary_copy(folder: str) -> Iterator[str]:
    """Copy `folder` into a temporary one, yield its path, and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="ricordo-") as temporary:
        copy = os.path.join(temporary, os.path.basename(folder))
        shutil.copytree(folder, copy, symlinks=True)
        yield copy


@contextmanager
def empty_folder() -> Iterator[str]:
    """Create an empty folder for this user only, yield its path, and remove it and its contents at
    the end, as far as possible.
    """
    with tempfile.TemporaryDirectory(prefix="ricordo-run-", ignore_cleanup_errors=True) as folder:
        yield folder
