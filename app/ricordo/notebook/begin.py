"""Beginning a piece of work that changes a memory or tells its history: finish what was cut off,
read the memory once nobody writes to it, and record what others did.
"""

from __future__ import annotations

import time

from ricordo.disk.door import Recovered
from ricordo.errors import Busy, StateUnusable
from ricordo.memory.memory import Memory
from ricordo.notebook.open import Notebook
from ricordo.notebook.record import STABLE_FOR
from ricordo.text import visible

_ATTEMPTS = 10


def begin(notebook: Notebook) -> tuple[Memory, list[str]]:
    """Return the memory, read and recorded, and what the person has to be told.

    Raises MemoryNotFound, MemoryUnreadable, StateUnusable and Busy.
    """
    recovered = notebook.door.recover(notebook.surroundings.now)
    memory = _read_when_stable(notebook)
    notebook.record(memory)
    return memory, [*told_of_recovery(recovered), *notebook.take_notices()]


def begin_to_show(notebook: Notebook) -> tuple[Memory, list[str]]:
    """Return what `begin` does; where our state cannot be written, the memory as it is, for the
    history can still be shown. Raises MemoryNotFound, MemoryUnreadable and Busy.
    """
    try:
        return begin(notebook)
    except Busy:
        raise
    except StateUnusable as error:
        said = f"{error.message} What was kept before is shown; nothing can be kept now."
        return notebook.read(), [said, *notebook.take_notices()]


def told_of_recovery(recovered: Recovered) -> list[str]:
    """Return what a recovery did, in sentences."""
    told: list[str] = []
    if recovered.completed:
        told.append("A change that was cut off earlier was completed.")
    if recovered.taken_back:
        told.append("A change that was cut off earlier was taken back: somebody else wrote since.")
    for path in recovered.waiting:
        told.append(
            f"A change that was cut off waits: {visible(path)} is not there, or is another "
            "directory than it was."
        )
    return told


def _read_when_stable(notebook: Notebook) -> Memory:
    """Return the memory once no file of it was written to for a moment: an agent may be half
    through writing one.
    """
    for _ in range(_ATTEMPTS):
        memory = notebook.read()
        newest = max((file.facts.modified for file in memory.files), default=0.0)
        left = newest + STABLE_FOR - time.time()
        # a time in the future is a wrong clock, not a writer
        if not 0 < left <= STABLE_FOR:
            break
        time.sleep(left)
    return memory
