"""Checking the history: that every content it names is there and is what its name says."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass

from ricordo.disk.history import History
from ricordo.memory.change_set import digest
from ricordo.notebook.open import Notebook

_ACCOUNTED_FOR = "SELECT sha FROM blob UNION SELECT sha FROM dropped"
"""Contents that are kept, and those that the person let go."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check of the history found."""

    contents: int
    faults: tuple[str, ...]
    """What is wrong, one line each."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large the history is."""

    bytes: int
    """Of the database on disk."""
    contents: int
    acts: int


def check_history(notebook: Notebook) -> Checked:
    """Read every kept content again. Raises StateUnusable."""
    if not notebook.database.exists:
        return Checked(0, ())
    faults: list[str] = []
    with notebook.database.opened() as connection:
        count = 0
        for sha, size, data in connection.execute("SELECT sha, size, data FROM blob"):
            count += 1
            try:
                content = zlib.decompress(data)
            except zlib.error:
                faults.append(f"content {sha[:12]} cannot be unpacked")
                continue
            if digest(content) != sha or len(content) != size:
                faults.append(f"content {sha[:12]} is not what it was")
        for path, act in connection.execute(
            f"SELECT path, act FROM op WHERE pre NOT IN ({_ACCOUNTED_FOR})"
            f" OR post NOT IN ({_ACCOUNTED_FOR})"
        ):
            faults.append(f"act {act} names a text of {path} that is not kept")
        for row in connection.execute("PRAGMA integrity_check"):
            if row[0] != "ok":
                faults.append(str(row[0]))
        unfinished = [act.n for act in History(connection).unfinished()]
        faults.extend(f"act {n} was cut off and waits" for n in unfinished)
    return Checked(count, tuple(faults))


def history_size(notebook: Notebook) -> Size:
    """Return how large the history of all memories is. Raises StateUnusable."""
    if not notebook.database.exists:
        return Size(0, 0, 0)
    with notebook.database.opened() as connection:
        contents = connection.execute("SELECT count(*) FROM blob").fetchone()[0]
        acts = connection.execute("SELECT count(*) FROM act").fetchone()[0]
    return Size(os.path.getsize(notebook.database.path), contents, acts)
