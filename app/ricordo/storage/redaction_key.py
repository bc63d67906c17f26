"""The key of the fingerprints by which values are allowed to leave: a file of its own, so that
what is kept of a value tells nothing where the key is not known.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ricordo.errors import StateUnusable
from ricordo.storage.foreign_file import read_plain_file
from ricordo.text import visible

_FILE = "redaction.key"
_SIZE = 32
"""Bytes."""


def redaction_key(state: str) -> bytes:
    """Return the key in the directory `state`, which is made where there is none, for this user
    only. Raises StateUnusable.
    """
    path = os.path.join(state, _FILE)
    key = read_plain_file(path, _SIZE + 1)
    if key is None and not os.path.lexists(path):
        _make(state, path)
        key = read_plain_file(path, _SIZE + 1)
    if key is None or len(key) != _SIZE:
        raise StateUnusable(
            f"The key of what may leave ({visible(path)}) cannot be read. Without it nothing is "
            "allowed: remove it, and allow again what should leave."
        )
    return key


def _make(state: str, path: str) -> None:
    from tempfile import NamedTemporaryFile

    try:
        os.makedirs(state, mode=0o700, exist_ok=True)
        with NamedTemporaryFile(dir=state, prefix=f".{_FILE}.") as file:
            file.write(os.urandom(_SIZE))
            file.flush()
            os.fsync(file.fileno())
            # whole or not at all, and the first of two processes makes it
            with suppress(FileExistsError):
                os.link(file.name, path)
    except OSError as error:
        raise StateUnusable(
            f"The key of what may leave ({visible(path)}) cannot be written: {error.strerror}."
        ) from None
