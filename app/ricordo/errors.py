"""The errors that a person can meet.

    RicordoError                 anything that is told in one line
    ├── NothingToUndo     (0)    no act is left that could be taken back
    ├── WrongUsage        (2)    the words of a command do not fit
    │   └── AmbiguousNote (2)    a name fits several notes
    ├── MemoryNotFound    (3)    no memory stands where one was looked for
    │   └── NoteNotFound  (3)    the memory holds no such note
    ├── MemoryUnreadable  (3)    the memory is there and cannot be read
    ├── HandoffUnreadable (3)    no handoff of ours stands there, or it cannot be read
    ├── ChangeRefused     (3)    a change does not fit the files, or may not be made
    │   ├── Conflict      (3)    somebody else changed the same lines meanwhile
    │   └── WriteFailed   (3)    the machine did not let us write
    ├── StateUnusable     (3)    our own state directory cannot be read or written
    │   └── Busy          (3)    another process holds it
    ├── CuratorFailed     (4)    the curator refused, or could not answer
    │   └── TooOften      (4)    the memory was curated too often to be curated again now
    └── Unprintable       (74)   all was done, and the result could not be printed

The number is the exit code of the command line. A message says what is wrong and where, then
what to do; `changed` says what was and what was not changed.
"""

from __future__ import annotations

NOTHING_CHANGED = "Nothing was changed."


class RicordoError(Exception):
    """Something went wrong that a person can understand and act upon."""

    exit_code = 1

    def __init__(self, message: str, *, changed: str = NOTHING_CHANGED) -> None:
        super().__init__(message)
        self.message = message
        self.changed = changed

    def __str__(self) -> str:
        return f"{self.message} {self.changed}".strip()


class NothingToUndo(RicordoError):
    """No act is left that could be taken back, or done again."""

    exit_code = 0


class WrongUsage(RicordoError):
    """A command was given words that do not fit."""

    exit_code = 2


class AmbiguousNote(WrongUsage):
    """A name fits several notes."""

    def __init__(self, name: str, candidates: list[str]) -> None:
        super().__init__(f"“{name}” fits several notes: {', '.join(candidates)}. Name one of them.")
        self.candidates = candidates


class MemoryNotFound(RicordoError):
    """No memory stands where one was looked for."""

    exit_code = 3


class NoteNotFound(MemoryNotFound):
    """The memory holds no note of that name."""


class MemoryUnreadable(RicordoError):
    """The memory is there and cannot be read."""

    exit_code = 3


class HandoffUnreadable(RicordoError):
    """No handoff that we wrote stands there, or it cannot be read."""

    exit_code = 3


class StateUnusable(RicordoError):
    """Our own state directory cannot be read or written."""

    exit_code = 3


class Busy(StateUnusable):
    """Another process holds what we need, and went on holding it."""


class ChangeRefused(RicordoError):
    """A change does not fit the files as they are, or may not be made."""

    exit_code = 3


class EditRefused(ChangeRefused):
    """Somebody else changed the same lines meanwhile."""


class WriteFailed(ChangeRefused):
    """The machine did not let us write: no permission, no space, a failing disk."""


class CuratorFailed(RicordoError):
    """The curator refused, or could not answer."""

    exit_code = 4


class TooOften(CuratorFailed):
    """The memory was curated so often that it is left to settle."""


class Unprintable(RicordoError):
    """The result of a command could not be printed; what the command does was done."""

    exit_code = 74

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The result could not be printed: {error.strerror or error}.")
        self.has_no_reader = isinstance(error, BrokenPipeError)
        """Whether who read it went away, as `head` does once it has enough."""
