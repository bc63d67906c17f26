"""Messages among workers, screens and app: facts in the past tense, requests as `…Requested`."""

from __future__ import annotations

from textual.message import Message

from ricordo.agents.agent import MemoryPlace
from ricordo.services.workspace.follower import FollowedSnapshot, MemoryLost


class SnapshotTaken(Message):
    """There is a new snapshot of the memory, or it cannot be read."""

    def __init__(self, seen: FollowedSnapshot | MemoryLost) -> None:
        """`seen` comes from the follower."""
        super().__init__()
        self.seen = seen


class MemoriesRequested(Message):
    """The user wants to open another memory."""


class NoteRequested(Message):
    """The user wants to open a note of another memory."""

    def __init__(self, place: MemoryPlace, path: str, line: int = 0) -> None:
        """`path` is the note in the memory at `place`; `line` is scrolled into sight."""
        super().__init__()
        self.place = place
        self.path = path
        self.line = line
