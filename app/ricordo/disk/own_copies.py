"""Files of our own state, beside the history, in which a text of a note may stand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from ricordo.disk.database import DATABASE
from ricordo.disk.json_file import read_json
from ricordo.disk.plain_file import read_plain_file
from ricordo.disk.purge import MASK, forms, holds
from ricordo.disk.state_file import replace_state_file

_LARGEST = 1 << 30
_LARGEST_DOCUMENT = 64 * 1024 * 1024
_ASIDE = f"{DATABASE}.corrupt-"


def copies_holding(state: str, value: str) -> tuple[str, ...]:
    """Return the files of `state` that hold `value` in one of its forms: what an editor was given,
    above all.
    """
    wanted = forms(value)
    # as JSON has it
    wanted.setdefault(json.dumps(value)[1:-1].encode("ascii"), b"")
    return tuple(
        path for path in _files(state) if holds(read_plain_file(path, _LARGEST) or b"", wanted)
    )


def purge_documents(state: str, value: str) -> int:
    """Mask `value` in the JSON documents of `state`; return in how many it was. Raises OSError."""
    count = 0
    for folder in (state, *(os.path.join(state, name) for name in ("recall", "curation"))):
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        for name in (it for it in names if it.endswith(".json")):
            document, _ = read_json(os.path.join(folder, name), _LARGEST_DOCUMENT)
            if (masked := _masked(document, value)) != document:
                replace_state_file(folder, name, json.dumps(masked).encode("ascii"))
                count += 1
    return count


def purge_caches(state: str, value: str) -> int:
    """Remove what is kept of projects and of comparisons where a path in it holds `value`; return
    how many files. They are made again when they are needed. Raises OSError.
    """
    holding = [
        path
        for folder in ("projects", "compared")
        for path in copies_holding(os.path.join(state, folder), value)
    ]
    for path in holding:
        os.unlink(path)
    return len(holding)


def _masked(document: object, value: str) -> object:
    if isinstance(document, str):
        return document.replace(value, MASK)
    if isinstance(document, list):
        return [_masked(it, value) for it in document]
    if isinstance(document, dict):
        return {_masked(key, value): _masked(it, value) for key, it in document.items()}
    return document


def histories_aside(state: str) -> tuple[str, ...]:
    """Return the damaged histories that were moved aside: nothing can be searched in them."""
    return tuple(path for path in _every(state) if os.path.basename(path).startswith(_ASIDE))


def _files(state: str) -> Iterator[str]:
    return (path for path in _every(state) if not os.path.basename(path).startswith(DATABASE))


def _every(state: str) -> Iterator[str]:
    for folder, _, names in os.walk(state):
        yield from (os.path.join(folder, name) for name in sorted(names))
