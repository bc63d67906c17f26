"""What curation cost and what it bought: one expensive curation is to buy many cheap reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ricordo.curation.drift import DENIAL, Fact, lost, told_fact
from ricordo.curation.validation import body_of
from ricordo.llm.question import estimate
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.services.ledger.ledger import (
    Curated,
    Edited,
    LedgerRun,
    acts_taken_back,
    curated,
    runs_of,
)
from ricordo.services.sessions.activity import Activity
from ricordo.services.workspace.notebook import Notebook

_MOST_GONE = 100
"""Facts that are looked for in the whole memory, the latest."""


class DriftStep(NamedTuple):
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
class Drift:
    """What curations have done to what the notes state."""

    steps: tuple[DriftStep, ...] = ()
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


def wear(memory: Memory, curations: Iterable[Curated], step: Callable[[], None]) -> Drift:
    """Return what `curations`, oldest first, have done to the notes of `memory`; `step` is called
    after each and may raise.
    """
    steps: list[DriftStep] = []
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
        steps.append(DriftStep(it.at.isoformat(), it.author.name, len(gone), len(new)))
        for note in it.notes:
            was, now = body_of(note.before), body_of(note.after)
            of_note = notes.setdefault(note.path, ([], []))
            of_note[0].extend(lost(was, now))
            of_note[1].extend(lost(now, was))
    return Drift(
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


PAYS = 10
"""Reads for each curation, from which on curating pays: the rule of ten."""


@dataclass(frozen=True, slots=True)
class Bought:
    """The ledger of one memory."""

    runs: tuple[LedgerRun, ...]
    """Newest first."""
    damaged: int
    """Lines of the ledger that cannot be read."""
    activity_tokens: int
    """About how many tokens the activity came to that was curated."""
    notes_tokens: int
    """About how many the notes come to by now."""
    curations: int
    """How many were applied and stand."""
    reads: int
    """How often agents were given the index, or read a note, since the first of them."""
    reads_since: int
    """How often since the last one."""
    wear: Drift

    @property
    def reads_each(self) -> float | None:
        """Reads for each curation; None before the first one."""
        return self.reads / self.curations if self.curations else None

    @property
    def pays(self) -> bool:
        """Whether one curation buys enough reads."""
        return self.reads_each is not None and self.reads_each >= PAYS

    @property
    def input_tokens(self) -> int:
        """What engines were given, in all."""
        return sum(it.input_tokens for it in self.runs)

    @property
    def output_tokens(self) -> int:
        """What they answered, in all."""
        return sum(it.output_tokens for it in self.runs)

    @property
    def usd(self) -> float:
        """What is known of the cost, in all."""
        return sum(it.usd for it in self.runs if it.usd is not None)

    @property
    def unpriced(self) -> int:
        """How many runs there are whose price is not known."""
        return sum(it.usd is None for it in self.runs)


def bought(notebook: Notebook, memory: Memory, step: Callable[[], None] = lambda: None) -> Bought:
    """Return what the curations of `memory` cost and bought, by what is known of transcripts;
    `step` is called all the while and may raise. Raises StateUnusable.
    """
    runs, damaged = runs_of(notebook.surroundings.state, memory.root, acts_taken_back(notebook))
    applied = curated(notebook)
    step()
    activity = Activity(notebook.place, notebook.surroundings, notebook.activity)
    read = [datetime.fromisoformat(at) for at in activity.read_at(memory)]
    notes = (note for note in memory.notes if note.role is FileRole.NOTE)
    return Bought(
        runs,
        damaged,
        sum(it.activity_tokens for it in runs if it.is_decided),
        sum(estimate(note.text) for note in notes),
        len(applied),
        _since(read, applied[0].at) if applied else 0,
        _since(read, applied[-1].at) if applied else 0,
        wear(memory, applied, step),
    )


def _since(read: Iterable[datetime], at: datetime) -> int:
    return sum(it > at for it in read)
