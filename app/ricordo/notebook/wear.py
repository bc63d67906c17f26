"""Drift over curations: what those that stand have taken from the notes and brought to them, as the
history has it. Heads are left out: their dates and names are no statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ricordo.curator.checking import body_of
from ricordo.curator.drift import DENIAL, Fact, lost, told_fact
from ricordo.memory.memory import Memory
from ricordo.notebook.curations import Curated, Edited

_MOST_GONE = 100
"""Facts that are looked for in the whole memory, the latest."""


class Step(NamedTuple):
    """What one curation took and brought."""

    at: str
    """ISO 8601, with time zone."""
    engine: str
    lost: int
    added: int


class OfNote(NamedTuple):
    """What curations took from one note and brought to it."""

    path: str
    lost: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wear:
    """What curations have done to what the notes state."""

    steps: tuple[Step, ...] = ()
    """Oldest first."""
    notes: tuple[OfNote, ...] = ()
    """Those that lost most first."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """How much, by kind. What another note of the same curation took over is not lost."""
    added: Mapping[str, int] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    """What was lost and stands in no note by now, the latest first."""
    purged: int = 0
    """How many edits cannot be told of, because a value was purged."""


def wear(memory: Memory, curations: Iterable[Curated], step: Callable[[], None]) -> Wear:
    """Return what `curations`, oldest first, have done to the notes of `memory`; `step` is called
    after each and may raise.
    """
    steps: list[Step] = []
    notes: dict[str, tuple[list[Fact], list[Fact]]] = {}
    taken: list[Fact] = []
    brought: list[Fact] = []
    purged = 0
    for it in curations:
        step()
        before, after = _whole(it.notes, "before"), _whole(it.notes, "after")
        gone, new = lost(before, after), lost(after, before)
        taken += gone
        brought += new
        purged += it.purged
        steps.append(Step(it.at.isoformat(), it.author.name, len(gone), len(new)))
        for note in it.notes:
            was, now = body_of(note.before), body_of(note.after)
            of_note = notes.setdefault(note.path, ([], []))
            of_note[0].extend(lost(was, now))
            of_note[1].extend(lost(now, was))
    return Wear(
        tuple(steps),
        tuple(_ordered(notes)),
        Counter(it.kind for it in taken),
        Counter(it.kind for it in brought),
        tuple(_gone(memory, taken)),
        purged,
    )


def _whole(notes: Iterable[Edited], side: str) -> str:
    return "\n".join(body_of(getattr(it, side)) for it in notes)


def _ordered(notes: Mapping[str, tuple[list[Fact], list[Fact]]]) -> list[OfNote]:
    told = [
        OfNote(path, tuple(map(told_fact, gone)), tuple(map(told_fact, new)))
        for path, (gone, new) in notes.items()
    ]
    return sorted(told, key=lambda it: (-len(it.lost), it.path))


def _gone(memory: Memory, taken: Iterable[Fact]) -> list[str]:
    latest = [it for it in dict.fromkeys(reversed(list(taken))) if it.kind != DENIAL]
    whole = "\n".join(note.text for note in memory.notes)
    return [told_fact(it) for it in latest[:_MOST_GONE] if it.text not in whole]
