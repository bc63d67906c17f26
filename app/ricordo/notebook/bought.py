"""What curation cost and what it bought: one expensive curation is to buy many cheap reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from ricordo.curator.brief import tokens
from ricordo.memory.layout import Role
from ricordo.memory.memory import Memory
from ricordo.notebook.activity import Activity
from ricordo.notebook.curations import acts_taken_back, curated
from ricordo.notebook.ledger import Run, runs_of
from ricordo.notebook.open import Notebook
from ricordo.notebook.wear import Wear, wear

PAYS = 10
"""Reads for each curation, from which on curating pays: the rule of ten."""


@dataclass(frozen=True, slots=True)
class Bought:
    """The ledger of one memory."""

    runs: tuple[Run, ...]
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
    wear: Wear

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
    notes = (note for note in memory.notes if note.role is Role.NOTE)
    return Bought(
        runs,
        damaged,
        sum(it.activity_tokens for it in runs if it.is_decided),
        sum(tokens(note.text) for note in notes),
        len(applied),
        _since(read, applied[0].at) if applied else 0,
        _since(read, applied[-1].at) if applied else 0,
        wear(memory, applied, step),
    )


def _since(read: Iterable[datetime], at: datetime) -> int:
    return sum(it > at for it in read)
