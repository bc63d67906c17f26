"""Files of our own state directory: made for this user alone, replaced whole and never torn."""

from __future__ import annotations

import os
from contextlib import suppress


def make_state_file(state: str, name: str) -> None:
    """Make the file `name` in the directory `state`, and that, where they are missing; both for
    this user only. Raises OSError.
    """
    os.makedirs(state, mode=0o700, exist_ok=True)
    with suppress(FileExistsError):
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
        os.close(os.open(os.path.join(state, name), flags, 0o600))


def replace_state_file(state: str, name: str, content: bytes) -> None:
    """Write `content` to the file `name` of the directory `state`, which is made where it is
    missing; both for this user only. Raises OSError.
    """
    from tempfile import NamedTemporaryFile

    os.makedirs(state, mode=0o700, exist_ok=True)
    with NamedTemporaryFile(dir=state, prefix=f".{name}.", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, os.path.join(state, name))
        except BaseException:
            os.unlink(file.name)
            raise
