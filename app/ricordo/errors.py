"""The errors that are reported to the user.

    RicordoError                 any error with a one-line message
    ├── NothingToUndo     (0)    there is nothing to undo or redo
    ├── WrongUsage        (2)    invalid arguments of a command
    │   └── AmbiguousNote (2)    a name matches several notes
    ├── MemoryNotFound    (3)    no memory at the expected place
    │   └── NoteNotFound  (3)    no such note in the memory
    ├── MemoryUnreadable  (3)    the memory exists but cannot be read
    ├── HandoffUnreadable (3)    no handoff by Ricordo, or it cannot be read
    ├── ChangeRefused     (3)    a change does not fit the files, or is not allowed
    │   ├── EditRefused   (3)    another program changed the same lines meanwhile
    │   └── WriteFailed   (3)    the system refused to write
    ├── StateUnusable     (3)    the state directory cannot be read or written
    │   └── Busy          (3)    another process has locked it
    ├── CuratorFailed     (4)    the curator refused, or could not answer
    │   └── RateLimited   (4)    the memory was curated too often recently
    └── OutputFailed      (74)   the command succeeded, but its result could not be printed

The number is the exit code of the command line. A message says what happened, to what, and what to
do next; `changed` says what was and what was not changed.
"""

from __future__ import annotations

NOTHING_CHANGED = "Nothing was changed."


class RicordoError(Exception):
    """An error that the user can understand and act upon."""

    exit_code = 1

    def __init__(self, message: str, *, changed: str = NOTHING_CHANGED) -> None:
        super().__init__(message)
        self.message = message
        self.changed = changed

    def __str__(self) -> str:
        return f"{self.message} {self.changed}".strip()


class NothingToUndo(RicordoError):
    """There is nothing to undo or redo."""

    exit_code = 0


class WrongUsage(RicordoError):
    """The arguments of a command are invalid."""

    exit_code = 2


class AmbiguousNote(WrongUsage):
    """A name matches several notes."""

    def __init__(self, name: str, candidates: list[str]) -> None:
        super().__init__(f"“{name}” matches several notes: {', '.join(candidates)}. Choose one.")
        self.candidates = candidates


class MemoryNotFound(RicordoError):
    """There is no memory at the expected place."""

    exit_code = 3


class NoteNotFound(MemoryNotFound):
    """The memory has no note of that name."""


class MemoryUnreadable(RicordoError):
    """The memory exists but cannot be read."""

    exit_code = 3


class HandoffUnreadable(RicordoError):
    """The file is not a handoff written by Ricordo, or it cannot be read."""

    exit_code = 3


class StateUnusable(RicordoError):
    """The state directory cannot be read or written."""

    exit_code = 3


class Busy(StateUnusable):
    """Another process has locked a needed file for too long."""


class ChangeRefused(RicordoError):
    """A change does not fit the current files, or is not allowed."""

    exit_code = 3


class EditRefused(ChangeRefused):
    """Another program changed the same lines meanwhile."""


class WriteFailed(ChangeRefused):
    """The system refused to write: no permission, no space, a failing disk."""


class CuratorFailed(RicordoError):
    """The curator refused, or could not answer."""

    exit_code = 4


class RateLimited(CuratorFailed):
    """The memory was curated too often recently."""


class OutputFailed(RicordoError):
    """The result of a command could not be printed; the command itself succeeded."""

    exit_code = 74

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The result could not be printed: {error.strerror or error}.")
        self.has_no_reader = isinstance(error, BrokenPipeError)
        """Whether the reader closed the pipe, as `head` does after enough lines."""
