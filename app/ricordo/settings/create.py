"""Creating the settings file."""

from __future__ import annotations

import os

from ricordo.errors import StateUnusable


def create_file(file: str, text: str) -> bool:
    """Write `text` to `file`, for its owner only, unless there is such a file already; say whether
    it was created.

    Raises StateUnusable where it cannot be written.
    """
    if os.path.lexists(file):
        return False
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise _unwritable(file, error) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        # a part of it would count as the whole
        os.unlink(file)
        raise _unwritable(file, error) from None
    return True


def _unwritable(file: str, error: OSError) -> StateUnusable:
    return StateUnusable(f"{file} cannot be written: {error.strerror}.")
