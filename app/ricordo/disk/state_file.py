"""Files of our own state directory: made for this user alone, replaced whole and never torn."""

from __future__ import annotations

import os
from contextlib import suppress
from errno import ENOTDIR


def make_private_directory(path: str) -> None:
    """Make the directory `path` and what is missing above it, for this user only: the mode that is
    given to `os.makedirs` is that of the last one alone. Raises OSError.
    """
    if not os.path.isdir(path):
        above = os.path.dirname(path)
        if above != path:
            make_private_directory(above)
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        if not os.path.isdir(path):
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), path)


def make_state_file(state: str, name: str) -> None:
    """Make the file `name` in the directory `state`, and that, where they are missing; both for
    this user only. Raises OSError.
    """
    make_private_directory(state)
    with suppress(FileExistsError):
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
        os.close(os.open(os.path.join(state, name), flags, 0o600))


def replace_state_file(state: str, name: str, content: bytes) -> None:
    """Write `content` to the file `name` of the directory `state`, which is made where it is
    missing; both for this user only. Raises OSError.
    """
    from tempfile import NamedTemporaryFile

    make_private_directory(state)
    with NamedTemporaryFile(dir=state, prefix=f".{name}.", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, os.path.join(state, name))
        except BaseException:
            os.unlink(file.name)
            raise
