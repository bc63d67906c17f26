"""Reading small files of others: settings, markers, the first lines of a transcript."""

from __future__ import annotations

import os
import stat

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def read_plain_file(path: str, limit: int, *, follow: bool = False) -> bytes | None:
    """Return the first `limit` bytes of the file at `path`; None where there is no plain file or it
    cannot be read.

    Pipes and devices never hold us up. A symbolic link is followed only with `follow`, as settings
    that people keep in a repository of their own need it.
    """
    handle = open_plain_file(path, follow=follow)
    if handle is None:
        return None
    try:
        return _read(handle, limit)
    except OSError:
        return None
    finally:
        os.close(handle)


def open_plain_file(path: str, *, follow: bool = False) -> int | None:
    """Return a file descriptor for reading the plain file at `path`, to be closed by the caller;
    None as above.
    """
    try:
        handle = os.open(path, _FLAGS | (0 if follow else os.O_NOFOLLOW))
    except (OSError, ValueError):
        return None
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def _read(handle: int, limit: int) -> bytes:
    parts: list[bytes] = []
    while limit > 0 and (part := os.read(handle, limit)):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)
