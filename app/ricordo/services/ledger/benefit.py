"""Costs and benefits of curation: one expensive curation should pay off in many cheap reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ricordo.curation.drift import DENIAL, Fact, describe_fact, find_lost_facts
from ricordo.curation.validation import decode_body
from ricordo.llm.question import estimate_tokens
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.services.ledger.ledger import (
    AppliedCuration,
    CuratedNote,
    LedgerRun,
    list_applied_curations,
    list_undone_acts,
    read_runs,
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


class NoteDrift(NamedTuple):
    """The facts that curations lost from one note and added to it."""

    path: str
    lost: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """The facts that curations lost and added."""

    steps: tuple[DriftStep, ...] = ()
    """Oldest first."""
    notes: tuple[NoteDrift, ...] = ()
    """Notes that lost most first."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """Counts by kind. A fact that moved to another note of the same curation is not lost."""
    added: Mapping[str, int] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    """Lost facts that no note has now, the latest first."""
    purged: int = 0
    """Edits that are not counted, because a value was purged from them."""


def measure_drift(
    memory: Memory, curations: Iterable[AppliedCuration], step: Callable[[], None]
) -> Drift:
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
        lost, new = find_lost_facts(before, after), find_lost_facts(after, before)
        lost_facts += lost
        added_facts += new
        purged += curation.purged
        steps.append(DriftStep(curation.at.isoformat(), curation.author.name, len(lost), len(new)))
        for note in curation.notes:
            was, now = decode_body(note.before), decode_body(note.after)
            of_note = notes.setdefault(note.path, ([], []))
            of_note[0].extend(find_lost_facts(was, now))
            of_note[1].extend(find_lost_facts(now, was))
    return Drift(
        tuple(steps),
        tuple(_ordered(notes)),
        Counter(curation.kind for curation in lost_facts),
        Counter(curation.kind for curation in added_facts),
        tuple(_gone(memory, lost_facts)),
        purged,
    )


def _whole(notes: Iterable[CuratedNote], side: str) -> str:
    return "\n".join(decode_body(getattr(it, side)) for it in notes)


def _ordered(notes: Mapping[str, tuple[list[Fact], list[Fact]]]) -> list[NoteDrift]:
    notes_by_loss = [
        NoteDrift(path, tuple(map(describe_fact, lost)), tuple(map(describe_fact, new)))
        for path, (lost, new) in notes.items()
    ]
    return sorted(notes_by_loss, key=lambda it: (-len(it.lost), it.path))


def _gone(memory: Memory, lost_facts: Iterable[Fact]) -> list[str]:
    latest = [fact for fact in dict.fromkeys(reversed(list(lost_facts))) if fact.kind != DENIAL]
    whole = "\n".join(note.text for note in memory.notes)
    return [describe_fact(fact) for fact in latest[:_MOST_GONE] if fact.text not in whole]


MIN_READS_PER_CURATION = 10
"""Reads per curation from which curating is worthwhile: the rule of ten."""


@dataclass(frozen=True, slots=True)
class CurationBenefit:
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
    drift: Drift

    @property
    def reads_per_curation(self) -> float | None:
        """Reads per curation; None before the first one."""
        return self.reads / self.curations if self.curations else None

    @property
    def is_worthwhile(self) -> bool:
        """Whether the reads per curation are enough."""
        return (
            self.reads_per_curation is not None
            and self.reads_per_curation >= MIN_READS_PER_CURATION
        )

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


def compute_benefit(
    notebook: Notebook, memory: Memory, step: Callable[[], None] = lambda: None
) -> CurationBenefit:
    """Return costs and benefits of the curations of `memory`, by the known transcripts; `step` is
    called again and again and may raise. Raises StateUnusable.
    """
    runs, damaged = read_runs(notebook.environment.state, memory.root, list_undone_acts(notebook))
    applied = list_applied_curations(notebook)
    step()
    activity = Activity(notebook.place, notebook.environment, notebook.activity)
    read = [datetime.fromisoformat(at) for at in activity.list_read_times(memory)]
    notes = (note for note in memory.notes if note.role is FileRole.NOTE)
    return CurationBenefit(
        runs,
        damaged,
        sum(it.activity_tokens for it in runs if it.is_decided),
        sum(estimate_tokens(note.text) for note in notes),
        len(applied),
        _since(read, applied[0].at) if applied else 0,
        _since(read, applied[-1].at) if applied else 0,
        measure_drift(memory, applied, step),
    )


def _since(read: Iterable[datetime], at: datetime) -> int:
    return sum(it > at for it in read)
