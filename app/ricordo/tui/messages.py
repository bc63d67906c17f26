"""What happened (past tense) and what is wished (`…Requested`), among workers, screens and app."""

from __future__ import annotations

from textual.message import Message

from ricordo.agents.place import MemoryPlace
from ricordo.services.workspace.follower import FollowedSnapshot, Lost


class Looked(Message):
    """A new look at the memory is there, or it cannot be read."""

    def __init__(self, seen: FollowedSnapshot | Lost) -> None:
        """`seen` is what the follower gave."""
        super().__init__()
        self.seen = seen


class MemoriesRequested(Message):
    """The person wants to open another memory."""


class NoteRequested(Message):
    """The person wants to open a note of another memory."""

    def __init__(self, place: MemoryPlace, path: str, line: int = 0) -> None:
        """`path` is that of the note in the memory at `place`; `line` is to be in sight."""
        super().__init__()
        self.place = place
        self.path = path
        self.line = line
