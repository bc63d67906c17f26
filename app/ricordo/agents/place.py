"""A place: one directory that is a memory, whose, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass

from ricordo.memory.layout import Layout


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """One memory directory on this machine."""

    root: str
    """Absolute path."""
    layout: Layout
    project: str = ""
    """The project's directory; "" where it cannot be told."""
    why: str = ""
    """Which rule led here, as a person would say it."""
