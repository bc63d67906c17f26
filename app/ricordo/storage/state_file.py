"""Files of our own state directory: opened only where they are regular files, for this user alone,
replaced whole and never torn.

Every other module opens them through this one, but for small ones that are read whole
(`plain_file`). The prompt hook does too: nothing is imported here
that it has not loaded anyway.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from errno import EINVAL, ENOTDIR
from typing import Any

from ricordo.errors import StateUnusable
from ricordo.storage.foreign_file import read_plain_file
from ricordo.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

FOLDERS = ("recall", "projects", "compared", "curation")
"""The folders of the state directory that hold such files."""
_BESIDE = ("-journal", "-wal", "-shm")
"""What SQLite keeps beside a database."""
_PRIVATE = 0o600
_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class NotRegular(OSError):
    """Something other than a regular file is where a state file should be."""

    def __init__(self, path: str) -> None:
        super().__init__(EINVAL, "not a regular file", path)


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


def refuse_irregular(state: str) -> None:
    """Refuse a state directory in which something other than a file or a directory lies: a pipe, a
    socket, a device, or a link to such. Raises StateUnusable.
    """
    for folder in (state, *(os.path.join(state, name) for name in FOLDERS)):
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
            for entry in entries:
                # a link that leads nowhere is as good as no file
                if not (entry.is_file() or entry.is_dir()) and os.path.exists(entry.path):
                    _refuse(entry.path)


def _refuse(path: str) -> None:
    from ricordo.errors import StateUnusable
    from ricordo.text import visible

    raise StateUnusable(
        f"{visible(path)} is not a regular file, so it is not opened: move it away, Ricordo makes "
        "a new file where it needs one."
    )


def open_state_file(path: str, flags: int) -> int:
    """Return a descriptor of the regular file at `path`, opened with `flags`; a file that they
    create is for this user only. Never blocks, never follows a link. Raises OSError.
    """
    handle = os.open(path, flags | _FLAGS, _PRIVATE)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotRegular(path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def open_database(
    path: str,
    *,
    timeout: float,
    autocommit: bool = False,
    check_same_thread: bool = True,
) -> sqlite3.Connection:
    """Return a connection to the SQLite file at `path`, which is made where it is missing and is
    for this user only; with `autocommit` no transaction begins by itself. Raises sqlite3.Error and
    OSError.
    """
    import sqlite3

    _check_database(path)
    with suppress(FileExistsError):
        # never opened where it is there: closing it would end the locks that SQLite has on it
        os.close(open_state_file(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    with suppress(OSError):
        # an earlier version left some of them readable for others
        if stat.S_IMODE(os.stat(path).st_mode) & ~_PRIVATE:
            os.chmod(path, _PRIVATE)
    return sqlite3.connect(
        path,
        timeout=timeout,
        isolation_level=None if autocommit else "DEFERRED",
        check_same_thread=check_same_thread,
    )


def open_database_to_read(
    path: str, *, timeout: float = 5.0, immutable: bool = False
) -> sqlite3.Connection:
    """Return a connection to the SQLite file at `path` that changes nothing; with `immutable` one
    that takes the file for whole without a look at its log. Raises sqlite3.Error and OSError.
    """
    import sqlite3

    _check_database(path)
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    address = f"file:{quoted}?mode=ro{'&immutable=1' * immutable}"
    return sqlite3.connect(address, timeout=timeout, uri=True)


def _check_database(path: str) -> None:
    """Raise NotRegular where SQLite would open something other than regular files."""
    for ending in ("", *_BESIDE):
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(path + ending).st_mode):
                raise NotRegular(path + ending)


def make_state_file(state: str, name: str) -> None:
    """Make the file `name` in the directory `state`, and that, where they are missing; both for
    this user only. Raises OSError.
    """
    make_private_directory(state)
    with suppress(FileExistsError):
        os.close(open_state_file(os.path.join(state, name), os.O_CREAT | os.O_EXCL | os.O_WRONLY))


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


_LARGEST = 64 * 1024 * 1024
_MASK = b"*"


def add_line(folder: str, name: str, told: Mapping[str, Any]) -> None:
    """Add an object to the log `name` in `folder`; it is on the disk afterwards. Raises OSError."""
    make_state_file(folder, name)
    handle = open_state_file(os.path.join(folder, name), os.O_APPEND | os.O_RDWR)
    try:
        # in front too, where the last writer was ended in the middle of a line
        size = os.fstat(handle).st_size
        is_torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        line = b"\n" * is_torn + json.dumps(told).encode("ascii") + b"\n"
        while line:
            line = line[os.write(handle, line) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def read_lines(folder: str, name: str) -> Iterator[dict[str, Any] | None]:
    """Yield the objects of the log, oldest first; None for a line that cannot be read."""
    raw = read_plain_file(os.path.join(folder, name), _LARGEST) or b""
    for line in raw.split(b"\n"):
        if not line.strip():
            continue
        told: object = None
        with suppress(ValueError, RecursionError):
            told = json.loads(line)
        yield told if isinstance(told, dict) else None


def purge_lines(folder: str, name: str, value: str) -> int:
    """Overwrite `value` wherever it stands in the log; return how many times that was. Raises
    OSError.
    """
    forms = {json.dumps(value)[1:-1].encode("ascii"), value.encode("utf-8", "surrogateescape")}
    path = os.path.join(folder, name)
    raw = read_plain_file(path, _LARGEST)
    if raw is None or not any(form and form in raw for form in forms):
        return 0
    handle = open_state_file(path, os.O_WRONLY)
    try:
        count = sum(_mask(handle, raw, form) for form in forms if form)
        os.fsync(handle)
    finally:
        os.close(handle)
    return count


def _mask(handle: int, raw: bytes, form: bytes) -> int:
    count, at = 0, raw.find(form)
    while at >= 0:
        os.pwrite(handle, _MASK * len(form), at)
        count, at = count + 1, raw.find(form, at + len(form))
    return count
