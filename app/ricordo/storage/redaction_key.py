"""The key for fingerprints of allowed values, in a separate file: without the key, a stored
fingerprint reveals nothing about its value.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ricordo.errors import StateUnusable
from ricordo.storage.foreign_file import read_plain_file
from ricordo.text import make_visible

_FILE = "redaction.key"
_SIZE = 32
"""Bytes."""


def load_redaction_key(state: str) -> bytes:
    """Return the key in the directory `state`; it is created if missing, for this user only. Raises
    StateUnusable.
    """
    path = os.path.join(state, _FILE)
    key = read_plain_file(path, _SIZE + 1)
    if key is None and not os.path.lexists(path):
        _create(state, path)
        key = read_plain_file(path, _SIZE + 1)
    if key is None or len(key) != _SIZE:
        raise StateUnusable(
            f"The redaction key ({make_visible(path)}) cannot be read, so no value is allowed. "
            "Remove the file, then allow values again."
        )
    return key


def _create(state: str, path: str) -> None:
    from tempfile import NamedTemporaryFile

    try:
        os.makedirs(state, mode=0o700, exist_ok=True)
        with NamedTemporaryFile(dir=state, prefix=f".{_FILE}.") as file:
            file.write(os.urandom(_SIZE))
            file.flush()
            os.fsync(file.fileno())
            # atomic: of two processes the first one creates it
            with suppress(FileExistsError):
                os.link(file.name, path)
    except OSError as error:
        raise StateUnusable(
            f"The redaction key ({make_visible(path)}) cannot be written: {error.strerror}."
        ) from None
