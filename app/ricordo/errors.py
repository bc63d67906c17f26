"""The errors that are reported to the user.

    RicordoError                 any error with a one-line message
    ├── NothingToUndo     (0)    there is nothing to undo or redo
    ├── WrongUsage        (2)    invalid arguments of a command
    │   ├── AmbiguousNote (2)    a name matches several notes
    │   └── AmbiguousMemory (2)  a project has several memories
    ├── MemoryNotFound    (3)    no memory at the expected place
    │   └── NoteNotFound  (3)    no such note in the memory
    ├── MemoryUnreadable  (3)    the memory exists but cannot be read
    ├── HandoffUnreadable (3)    no handoff by Ricordo, or it cannot be read
    ├── ChangeRefused     (4)    a change does not fit the files, or is not allowed
    │   ├── EditRefused   (4)    another program changed the same lines meanwhile
    │   └── WriteFailed   (4)    the system refused to write
    ├── Unconfirmed       (4)    it needs a confirmation that the user did not give
    ├── StateUnusable     (4)    the state directory cannot be read or written
    │   └── Busy          (4)    another process has locked it
    ├── CuratorFailed     (5)    the curator could not answer: no key, no login, no network
    │   └── RateLimited   (5)    the memory was curated too often recently
    ├── UnexpectedError   (70)   a bug
    ├── OutputFailed      (74)   the command succeeded, but its result could not be printed
    └── Interrupted       (130)  the user interrupted the command

The number is the exit code of the command line. A message says what happened, to what, and what to
do next; `changed` says what was and what was not changed. `kind` names an error for programs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING_CHANGED = "Nothing was changed."


class RicordoError(Exception):
    """An error that the user can understand and act upon."""

    exit_code = 1
    kind = "error"
    """Its name in the JSON document on an error."""

    def __init__(self, message: str, *, hint: str = "", changed: str = NOTHING_CHANGED) -> None:
        """`hint` says what to do next, where that is known."""
        self.message = f"{message} {hint}".strip()
        """What happened, and the hint."""
        super().__init__(self.message)
        self.fact = message
        """What happened, without the hint."""
        self.hint = hint
        self.changed = changed

    def __str__(self) -> str:
        return f"{self.message} {self.changed}".strip()


class NothingToUndo(RicordoError):
    """There is nothing to undo or redo."""

    exit_code = 0
    kind = "nothing-to-undo"


class WrongUsage(RicordoError):
    """The arguments of a command are invalid."""

    exit_code = 2
    kind = "usage"
    candidates: Sequence[str] = ()
    """What an ambiguous argument may mean."""


class AmbiguousNote(WrongUsage):
    """A name matches several notes."""

    kind = "ambiguous-note"

    def __init__(self, name: str, candidates: list[str]) -> None:
        super().__init__(
            f"“{name}” matches several notes: {', '.join(candidates)}.", hint="Choose one."
        )
        self.candidates = candidates


class AmbiguousMemory(WrongUsage):
    """A project has several memories."""

    kind = "ambiguous-memory"

    def __init__(self, directory: str, candidates: list[str]) -> None:
        super().__init__(
            f"Several memories found for {directory}: {', '.join(candidates)}.",
            hint=f"Choose one, such as `-m {candidates[0]}`.",
        )
        self.candidates = candidates


class MemoryNotFound(RicordoError):
    """There is no memory at the expected place."""

    exit_code = 3
    kind = "memory-not-found"


class NoteNotFound(MemoryNotFound):
    """The memory has no note of that name."""

    kind = "note-not-found"


class MemoryUnreadable(RicordoError):
    """The memory exists but cannot be read."""

    exit_code = 3
    kind = "memory-unreadable"


class HandoffUnreadable(RicordoError):
    """The file is not a handoff written by Ricordo, or it cannot be read."""

    exit_code = 3
    kind = "handoff-unreadable"


class ChangeRefused(RicordoError):
    """A change does not fit the current files, or is not allowed."""

    exit_code = 4
    kind = "refused"


class EditRefused(ChangeRefused):
    """Another program changed the same lines meanwhile."""

    kind = "edit-conflict"


class WriteFailed(ChangeRefused):
    """The system refused to write: no permission, no space, a failing disk."""

    kind = "write-failed"


class Unconfirmed(RicordoError):
    """What was asked for needs a confirmation that the user did not give."""

    exit_code = 4
    kind = "unconfirmed"


class StateUnusable(RicordoError):
    """The state directory cannot be read or written."""

    exit_code = 4
    kind = "state-unusable"


class Busy(StateUnusable):
    """Another process has locked a needed file for too long."""

    kind = "busy"


class CuratorFailed(RicordoError):
    """The curator refused, or could not answer."""

    exit_code = 5
    kind = "engine-failed"


class RateLimited(CuratorFailed):
    """The memory was curated too often recently."""

    kind = "rate-limited"


class OutputFailed(RicordoError):
    """The result of a command could not be printed; the command itself succeeded."""

    exit_code = 74
    kind = "output-failed"

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The result could not be printed: {error.strerror or error}.")
        self.has_no_reader = isinstance(error, BrokenPipeError)
        """Whether the reader closed the pipe, as `head` does after enough lines."""


class UnexpectedError(RicordoError):
    """A bug: an error that was not foreseen."""

    exit_code = 70
    kind = "internal"

    def __init__(self, error: BaseException) -> None:
        super().__init__(
            f"internal error ({type(error).__name__}); this is a bug, please report it.",
            hint="--debug shows where.",
        )


class Interrupted(RicordoError):
    """The user interrupted the command."""

    exit_code = 130
    kind = "interrupted"

    def __init__(self) -> None:
        super().__init__("Interrupted.")
