"""Search over all memories of this machine, as one list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from ricordo.agents.place import Place
from ricordo.errors import RicordoError
from ricordo.notebook.conditions import Values, asks_findings, values_of
from ricordo.notebook.find import all_memories
from ricordo.notebook.open import Depth, Look, Notebook
from ricordo.notebook.recall import open_index
from ricordo.notebook.search import MOST, Found, Hit, Search
from ricordo.notebook.surroundings import Surroundings
from ricordo.notebook.usage import uses_by_person
from ricordo.settings.settings import Settings
from ricordo.text import one_line

Progress = Callable[[Place, int, int], None]
"""Is told of which memory how many notes are indexed, and of how many."""


class PlacedHit(NamedTuple):
    """A note that was found, and the memory that it was found in."""

    place: Place
    look: Look
    hit: Hit


class FoundInAll(NamedTuple):
    """What a search over many memories gave."""

    hits: tuple[PlacedHit, ...]
    total: int
    """How many notes there were, with those beyond `hits`."""
    is_all: bool = True
    """Whether there were no more than `total`."""
    remarks: tuple[str, ...] = ()
    """Which conditions no memory understands, and what they want."""


NOTHING = FoundInAll((), 0)


class SearchAll:
    """All memories of this machine, each as it was when this was made. For one thread at a time."""

    def __init__(
        self,
        surroundings: Surroundings,
        settings: Settings,
        places: Sequence[Place] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Read the memories at `places`, by default all of this machine, and index each of them."""
        self.remarks: list[str] = []
        """Which memories could not be read, and why; visible text."""
        self._opened: list[_Opened] = []
        for place in all_memories(surroundings) if places is None else places:
            try:
                self._opened.append(_Opened(Notebook(place, surroundings, settings), progress))
            except (RicordoError, OSError) as error:
                self.remarks.append(f"{one_line(place.root)} was left out: {one_line(str(error))}")

    def find(self, typed: str, most: int = MOST) -> FoundInAll:
        """Return what fits `typed` in any memory: notes found by name first, the best kind of hit
        before all others, then those that say it, best first, and at last those of which another
        name may be meant. A memory is judged when a condition asks for its findings.
        """
        found = [(it, it.find(typed, most)) for it in self._opened]
        hits = [
            (_rank(hit, of_memory), PlacedHit(it.place, it.look, hit))
            for it, of_memory in found
            for hit in of_memory.hits
        ]
        # stable: notes of equal rank stay in the order that their own memory gives them
        hits.sort(key=lambda it: it[0])
        total = sum(of_memory.total for _, of_memory in found)
        is_all = all(of_memory.is_all for _, of_memory in found)
        placed = tuple(it for _, it in hits[:most])
        remarks = [of_memory.remarks for _, of_memory in found]
        # what one memory does not understand, such as the name of a note, another one may
        told = dict.fromkeys(chain.from_iterable(remarks)) if all(remarks) else ()
        return FoundInAll(placed, total, is_all, tuple(told))


class _Opened:
    """One memory that is searched."""

    def __init__(self, notebook: Notebook, progress: Progress | None) -> None:
        self.place = place = notebook.place
        self._notebook = notebook
        memory = notebook.read()
        self.look = Look(memory, (), (), notebook.surroundings.now, Depth.READ)
        index = open_index(place, notebook.surroundings)
        index.bring_up(memory, (lambda done, of: progress(place, done, of)) if progress else None)
        self._uses = uses_by_person(notebook.surroundings, memory)
        self._search = Search(index, memory, notebook.surroundings)

    def find(self, typed: str, most: int) -> Found:
        values = self._judged if asks_findings(typed) else Values(uses=self._uses)
        return self._search.find(typed, values, most)

    @cached_property
    def _judged(self) -> Values:
        self.look = self._notebook.judge_closely(self.look.memory)
        return values_of(self.look, self._uses)


def _rank(hit: Hit, found: Found) -> tuple[int, float, int]:
    """Where a hit stands among those of all memories, the smallest first."""
    if hit.by_name:
        return 2 * hit.is_unsure, -hit.result.score, len(hit.result.note.name)
    return 1, -hit.result.score * found.best, 0
