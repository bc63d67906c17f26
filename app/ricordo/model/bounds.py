"""How long is waited for an answer, and how much of it is taken."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of one question. All times are in seconds."""

    connect: float = 5.0
    read: float = 60.0
    """Of silence."""
    total: float = 300.0
    """From the question to the end of the answer, all tries and pauses included."""
    most_bytes: int = 4 * 1024 * 1024
    tries: int = 3
    pause: float = 1.0
    """Before the second try; each further one is four times as long."""
    longest_pause: float = 30.0
    """That a server may ask for; where it asks for more, we give up and say when to come again."""
