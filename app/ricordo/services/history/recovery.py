"""Reading and recording a memory, after changes that were interrupted are recovered."""

from __future__ import annotations

import time

from ricordo.errors import Busy, StateUnusable
from ricordo.memory.memory import Memory
from ricordo.services.history.recorder import STABLE_SECONDS
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.writer import RecoveryResult
from ricordo.text import make_visible

_ATTEMPTS = 10


def read_and_record(notebook: Notebook) -> tuple[Memory, list[str]]:
    """Return the memory, read and recorded, and messages to the user.

    Raises MemoryNotFound, MemoryUnreadable, StateUnusable and Busy.
    """
    recovered = notebook.writer.recover(notebook.environment.now)
    memory = _read_when_stable(notebook)
    notebook.record(memory)
    return memory, [*describe_recovery(recovered), *notebook.take_messages()]


def read_and_try_to_record(notebook: Notebook) -> tuple[Memory, list[str]]:
    """Return what `read_and_record` returns; if the state cannot be written, the memory
    unrecorded, as the history can still be shown. Raises MemoryNotFound, MemoryUnreadable and Busy.
    """
    try:
        return read_and_record(notebook)
    except Busy:
        raise
    except StateUnusable as error:
        message = f"{error.message} Earlier history is shown; nothing new can be recorded."
        return notebook.read(), [message, *notebook.take_messages()]


def describe_recovery(recovered: RecoveryResult) -> list[str]:
    """Return what a recovery did, a sentence each."""
    messages: list[str] = []
    if recovered.completed:
        messages.append("An interrupted change was completed.")
    if recovered.reverted:
        messages.append("An interrupted change was reverted: somebody else wrote since.")
    for path in recovered.pending:
        messages.append(
            f"An interrupted change is pending: {make_visible(path)} is missing or was replaced."
        )
    return messages


def _read_when_stable(notebook: Notebook) -> Memory:
    """Return the memory once no file was written for a moment: an agent may still be writing."""
    for _ in range(_ATTEMPTS):
        memory = notebook.read()
        newest = max((file.facts.modified for file in memory.files), default=0.0)
        seconds = newest + STABLE_SECONDS - time.time()
        # a time in the future is a wrong clock, not a writer
        if not 0 < seconds <= STABLE_SECONDS:
            break
        time.sleep(seconds)
    return memory
