"""Creating the settings file."""

from __future__ import annotations

import os

from ricordo.errors import StateUnusable


def create_file(file: str, text: str) -> None:
    """Write `text` to `file`, for its owner only, unless there is such a file already.

    Raises StateUnusable where it cannot be written.
    """
    if os.path.lexists(file):
        return
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise StateUnusable(f"{file} cannot be written: {error.strerror}.") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)
