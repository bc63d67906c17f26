"""Reading JSON that strangers wrote: settings and records of other programs."""

from __future__ import annotations

import json
import os

from ricordo.disk.plain_file import read_plain_file


def read_json(path: str, limit: int) -> tuple[object, str]:
    """Return the value in the file at `path`, and why there is none; both empty without a file.

    As strict as the programs that own these files: `NaN` and comments are no JSON.
    """
    raw = read_plain_file(path, limit + 1, follow=True)
    if raw is None:
        return None, "cannot be read as a plain file" if os.path.lexists(path) else ""
    if len(raw) > limit:
        return None, f"is larger than {limit // (1024 * 1024)} MB"
    try:
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse), ""
    except (ValueError, RecursionError):
        return None, "is not JSON"


def _refuse(constant: str) -> object:
    raise ValueError(constant)
