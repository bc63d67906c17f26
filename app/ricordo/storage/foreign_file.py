"""Read small files of other programs: settings, markers, the first lines of a transcript."""

from __future__ import annotations

import json
import os
import stat

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def read_plain_file(path: str, limit: int, *, follow: bool = False) -> bytes | None:
    """Return the first `limit` bytes of the file at `path`; None if it is not a regular file or
    cannot be read.

    Never blocks on pipes and devices. A symbolic link is followed only with `follow`, for settings
    that users link from a dotfiles repository.
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
    """Return a file descriptor for reading the regular file at `path`, to be closed by the caller;
    None as in `read_plain_file`.
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


def normalize_absolute_path(value: object) -> str:
    """Return `value` as a path without `..` and doubled slashes; "" unless it is a valid absolute
    path.
    """
    if not isinstance(value, str) or not value.startswith("/") or "\0" in value:
        return ""
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return ""
    # normpath keeps a doubled slash at the start
    return os.path.normpath("/" + value.lstrip("/"))


def list_subfolders(directory: str) -> list[str]:
    """Return the paths of the directories in `directory`, ordered by name; empty if it cannot be
    listed.
    """
    try:
        with os.scandir(directory) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir())
    except (OSError, ValueError):
        return []


def read_json(path: str, limit: int) -> tuple[object, str]:
    """Return the JSON value in the file at `path`, and an error, "" without one; None and "" if
    the file does not exist.

    As strict as the programs that own these files: `NaN` and comments are errors.
    """
    raw = read_plain_file(path, limit + 1, follow=True)
    if raw is None:
        return None, "cannot be read as a regular file" if os.path.lexists(path) else ""
    if len(raw) > limit:
        return None, f"is larger than {limit // (1024 * 1024)} MB"
    try:
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse), ""
    except json.JSONDecodeError as error:
        return None, f"is not JSON: line {error.lineno}, column {error.colno}"
    except (ValueError, RecursionError):
        return None, "is not JSON"


def _refuse(constant: str) -> object:
    raise ValueError(constant)
