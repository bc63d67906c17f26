"""Files of our own state, beside the history, in which a text of a note may stand."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ricordo.disk.database import DATABASE
from ricordo.disk.plain_file import read_plain_file
from ricordo.disk.purge import holds

_LARGEST = 1 << 30
_ASIDE = f"{DATABASE}.corrupt-"


def copies_holding(state: str, forms: dict[bytes, bytes]) -> tuple[str, ...]:
    """Return the files of `state` that hold a value in one of its `forms`: what an editor was
    given, above all.
    """
    return tuple(
        path for path in _files(state) if holds(read_plain_file(path, _LARGEST) or b"", forms)
    )


def histories_aside(state: str) -> tuple[str, ...]:
    """Return the damaged histories that were moved aside: nothing can be searched in them."""
    return tuple(path for path in _every(state) if os.path.basename(path).startswith(_ASIDE))


def _files(state: str) -> Iterator[str]:
    return (path for path in _every(state) if not os.path.basename(path).startswith(DATABASE))


def _every(state: str) -> Iterator[str]:
    for folder, _, names in os.walk(state):
        yield from (os.path.join(folder, name) for name in sorted(names))
