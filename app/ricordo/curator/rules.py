"""The engine that needs no key and no network: it finds by patterns what the person said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from ricordo.curator.brief import Brief
from ricordo.curator.engine import Answer, Progress, Step
from ricordo.curator.gist import gist, share
from ricordo.curator.heard import Heard
from ricordo.curator.placing import Known, place
from ricordo.curator.proposal import RULES, Wish, curator, retired
from ricordo.curator.tidying import tidied
from ricordo.health.finding import Finding
from ricordo.memory.change import Author
from ricordo.memory.memory import Memory

COMPARING = "comparing with the notes"
_SAID_AGAIN = 0.8
_MOST_TIDIED = 60
"""Changes that only put things in order: nobody looks through more at once, and what is left comes
with the next curation.
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """The engine, for one curation."""

    known: Known
    said: tuple[Heard, ...]
    findings: tuple[Finding, ...]

    @property
    def author(self) -> Author:
        """The rules."""
        return curator(RULES)

    def answer(self, memory: Memory, brief: Brief, step: Step) -> Answer:
        """Return what the rules would change. They need no brief: what it is made of is at hand."""
        return Answer(tuple(self._wishes(lambda: step(Progress(COMPARING)))))

    def _wishes(self, step: Callable[[], None]) -> Iterable[Wish]:
        """Return what the rules would change: first for what was said, in the order of time, then
        to put the memory in order. Each change is wished once.
        """
        found: dict[object, Wish] = {}
        for it in _newest(self.said):
            step()
            for wish in place(self.known, it):
                found.setdefault(wish.act, wish)
        gone = {path for it in found.values() if (path := retired(it.act))}
        in_order = tidied(self.known.memory, self.known.pairs, self.findings, self.known.confirmed)
        for wish in islice(in_order, _MOST_TIDIED):
            step()
            if retired(wish.act) not in gone:
                found.setdefault(wish.act, wish)
        return found.values()


def _newest(said: Iterable[Heard]) -> Iterator[Heard]:
    """Yield what was said, and of what was said more than once the last saying only."""
    them = sorted(said, key=lambda it: it.spoken.day)
    gists = [gist(it.statement) for it in them]
    for number, it in enumerate(them):
        later = gists[number + 1 :]
        if not any(share(gists[number], its) >= _SAID_AGAIN for its in later):
            yield it
