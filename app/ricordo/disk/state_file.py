"""Replacing a small file of our own state directory whole, so that it is never torn."""

from __future__ import annotations

import os


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
