"""Paths that strangers wrote into their files."""

from __future__ import annotations

import os


def absolute_path(value: object) -> str:
    """Return `value` as a path without `..` and doubled slashes; "" where it is no absolute path
    that the system can take.
    """
    if not isinstance(value, str) or not value.startswith("/") or "\0" in value:
        return ""
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return ""
    # normpath leaves a doubled slash at the start alone
    return os.path.normpath("/" + value.lstrip("/"))


def folders_in(directory: str) -> list[str]:
    """Return the paths of the directories in `directory`, ordered by name; none where it cannot be
    listed.
    """
    try:
        with os.scandir(directory) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir())
    except (OSError, ValueError):
        return []
