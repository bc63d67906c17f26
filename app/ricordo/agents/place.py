"""A directory that is a memory, with its project and how it was found."""

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
    """The project's directory; "" if it is unknown."""
    reason: str = ""
    """Why it was found, as users read it."""
