"""How much is quoted: what a handoff has room for, and less of everything where it is full."""

from __future__ import annotations

from typing import NamedTuple


class Room(NamedTuple):
    """Characters for each kind of quotation."""

    first: int
    """The first wish: a plan that was handed over is long, and what matters most."""
    wish: int
    """A later wish."""
    wishes: int
    """All later wishes."""
    report: int
    """What the agent reported last of its work."""
    answer: int
    """What it reported earlier, or only explained."""
    words: int
    """A few sentences: a question, a decision, what is left."""


SHARES = (1.0, 0.7, 0.5, 0.35, 0.25)
"""Shares of the full room that are tried, until a handoff fits."""
_FULL = Room(first=6_000, wish=2_000, wishes=6_000, report=4_000, answer=3_200, words=600)


def room(share: float) -> Room:
    """Return a share of the full room."""
    return Room(*(int(it * share) for it in _FULL))
