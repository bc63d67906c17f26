"""Gathering evidence: what is known of the notes of a memory besides their text.

Every kind of evidence has a source. It is asked only where one of the rules that look at what it
gives is to run, and it keeps by itself what it needs to answer quickly the next time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from ricordo.activity.store import Store
from ricordo.agents.place import Place
from ricordo.health.evidence import NOTHING_KNOWN, Evidence
from ricordo.memory.memory import Memory
from ricordo.notebook.activity import Activity
from ricordo.notebook.committed import Committed
from ricordo.notebook.comparing import Comparing
from ricordo.notebook.probing import Probing
from ricordo.notebook.surroundings import Surroundings

Step = Callable[[str], None]
"""Called by long work every few milliseconds with what it is doing, in a few words; it rests there
where others have to go first, and raises Stopped where nobody wants the answer any more.
"""


class Stopped(Exception):
    """Nobody waits for the evidence any more."""


class Source(Protocol):
    """One kind of slow evidence of one memory."""

    @property
    def rules(self) -> frozenset[str]:
        """The rules that look at it."""

    def has_news(self) -> bool:
        """Whether there may be more to know of the same memory, which takes milliseconds to say."""

    def gather(self, memory: Memory, known: Evidence, step: Step) -> Evidence:
        """Return `known` with its own part as it is now."""


def without_rest(_: str) -> None:
    """The step of one for whom the evidence is all that is waited for."""


def sources(place: Place, surroundings: Surroundings, store: Store) -> tuple[Source, ...]:
    """Return the sources of evidence on the memory at `place`; none of them has begun to work.
    `store` is where what agents did is kept.
    """
    activity, comparing = Activity(place, surroundings, store), Comparing(surroundings.state)
    own = (activity, Committed(place.root), comparing)
    project = surroundings.project or _project_of(place, surroundings)
    return (*own, Probing(project, surroundings)) if os.path.isdir(project) else own


def _project_of(place: Place, surroundings: Surroundings) -> str:
    """The project of a memory; "" for a session in the home directory, which is none."""
    home = os.path.realpath(surroundings.agent_home)
    above = os.path.join(os.path.realpath(place.project), "") if place.project else ""
    return "" if os.path.join(home, "").startswith(above) else place.project


EVIDENCE_RULES = Activity.rules | Comparing.rules | Probing.rules
"""The rules that tell nothing before evidence was gathered."""


class Gatherer:
    """Gathers the evidence of one memory; not for use from two threads at once."""

    def __init__(self, sources: Sequence[Source], rules: Collection[str]) -> None:
        """`rules` are those that will run: what none of them looks at is not gathered."""
        self._sources = [it for it in sources if not it.rules.isdisjoint(rules)]

    @property
    def has_sources(self) -> bool:
        """Whether anything is gathered at all."""
        return bool(self._sources)

    def gather(self, memory: Memory, step: Step = without_rest) -> Evidence:
        """Return what is known of `memory` now. Raises what `step` raises."""
        known = NOTHING_KNOWN
        for source in self._sources:
            known = source.gather(memory, known, step)
        return known

    @property
    def has_news(self) -> bool:
        """Whether there may be more to know of the same memory."""
        return any(source.has_news() for source in self._sources)

    def gather_news(self, memory: Memory, known: Evidence, step: Step = without_rest) -> Evidence:
        """Return what is known of `memory` now, where that may be other than was `known` of it.
        Raises what `step` raises.
        """
        for source in self._sources:
            if source.has_news():
                known = source.gather(memory, known, step)
        return known
