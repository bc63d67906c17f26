"""What happened (past tense) and what is wished (`…Requested`), between screens and the app."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from ricordo.notebook.follow import Lost, Seen


@dataclass
class Looked(Message):
    """A new look at the memory is there, or it cannot be read."""

    seen: Seen | Lost

    def __post_init__(self) -> None:
        """Textual's own part of the message."""
        super().__init__()


class MemoriesRequested(Message):
    """The person wants to open another memory."""
