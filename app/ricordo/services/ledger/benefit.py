"""Costs and benefits of curation: one expensive curation should pay off in many cheap reads."""

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
"""Lost facts that are searched in the whole memory, the latest."""


class DriftStep(NamedTuple):
    """The numbers of facts that one curation lost and added."""

    at: str
    """ISO 8601, with time zone."""
    engine: str
    lost: int
    added: int


class OfNote(NamedTuple):
    """The facts that curations lost from one note and added to it."""

    path: str
    lost: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """The facts that curations lost and added."""

    steps: tuple[DriftStep, ...] = ()
    """Oldest first."""
    notes: tuple[OfNote, ...] = ()
    """Notes that lost most first."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """Counts by kind. A fact that moved to another note of the same curation is not lost."""
    added: Mapping[str, int] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    """Lost facts that no note has now, the latest first."""
    purged: int = 0
    """Edits that are not counted, because a value was purged from them."""


def wear(memory: Memory, curations: Iterable[Curated], step: Callable[[], None]) -> Drift:
    """Return the drift of `memory` by `curations`, oldest first; `step` is called for each and may
    raise.
    """
    steps: list[DriftStep] = []
    notes: dict[str, tuple[list[Fact], list[Fact]]] = {}
    lost_facts: list[Fact] = []
    added_facts: list[Fact] = []
    purged = 0
    for curation in curations:
        step()
        before, after = _whole(curation.notes, "before"), _whole(curation.notes, "after")
        gone, new = lost(before, after), lost(after, before)
        lost_facts += gone
        added_facts += new
        purged += curation.purged
        steps.append(DriftStep(curation.at.isoformat(), curation.author.name, len(gone), len(new)))
        for note in curation.notes:
            was, now = body_of(note.before), body_of(note.after)
            of_note = notes.setdefault(note.path, ([], []))
            of_note[0].extend(lost(was, now))
            of_note[1].extend(lost(now, was))
    return Drift(
        tuple(steps),
        tuple(_ordered(notes)),
        Counter(curation.kind for curation in lost_facts),
        Counter(curation.kind for curation in added_facts),
        tuple(_gone(memory, lost_facts)),
        purged,
    )


def _whole(notes: Iterable[Edited], side: str) -> str:
    return "\n".join(body_of(getattr(it, side)) for it in notes)


def _ordered(notes: Mapping[str, tuple[list[Fact], list[Fact]]]) -> list[OfNote]:
    notes_by_loss = [
        OfNote(path, tuple(map(told_fact, gone)), tuple(map(told_fact, new)))
        for path, (gone, new) in notes.items()
    ]
    return sorted(notes_by_loss, key=lambda it: (-len(it.lost), it.path))


def _gone(memory: Memory, lost_facts: Iterable[Fact]) -> list[str]:
    latest = [fact for fact in dict.fromkeys(reversed(list(lost_facts))) if fact.kind != DENIAL]
    whole = "\n".join(note.text for note in memory.notes)
    return [told_fact(fact) for fact in latest[:_MOST_GONE] if fact.text not in whole]


PAYS = 10
"""Reads per curation from which curating is worthwhile: the rule of ten."""


@dataclass(frozen=True, slots=True)
class Bought:
    """Costs and benefits of the curations of one memory."""

    runs: tuple[LedgerRun, ...]
    """Newest first."""
    damaged: int
    """Lines of the ledger that cannot be read."""
    activity_tokens: int
    """Estimated tokens of the curated activity."""
    notes_tokens: int
    """Estimated tokens of the notes now."""
    curations: int
    """Curations that were applied and not undone."""
    reads: int
    """Times that agents loaded the index or read a note since the first of them."""
    reads_since: int
    """Times since the last of them."""
    wear: Drift

    @property
    def reads_each(self) -> float | None:
        """Reads per curation; None before the first one."""
        return self.reads / self.curations if self.curations else None

    @property
    def pays(self) -> bool:
        """Whether the reads per curation are enough."""
        return self.reads_each is not None and self.reads_each >= PAYS

    @property
    def input_tokens(self) -> int:
        """All input tokens."""
        return sum(it.input_tokens for it in self.runs)

    @property
    def output_tokens(self) -> int:
        """All output tokens."""
        return sum(it.output_tokens for it in self.runs)

    @property
    def usd(self) -> float:
        """The sum of the known costs in dollars."""
        return sum(it.usd for it in self.runs if it.usd is not None)

    @property
    def unpriced(self) -> int:
        """The number of runs with an unknown price."""
        return sum(it.usd is None for it in self.runs)


def bought(notebook: Notebook, memory: Memory, step: Callable[[], None] = lambda: None) -> Bought:
    """Return costs and benefits of the curations of `memory`, by the known transcripts; `step` is
    called again and again and may raise. Raises StateUnusable.
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
