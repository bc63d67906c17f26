"""Search over all memories of this machine, as one list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ricordo.agents.place import Place
from ricordo.disk.reader import read_memory
from ricordo.errors import RicordoError
from ricordo.notebook.find import all_memories
from ricordo.notebook.recall import open_index
from ricordo.notebook.search import MOST, Found, Hit, Search, Values
from ricordo.notebook.surroundings import Surroundings
from ricordo.notebook.usage import uses_by_person
from ricordo.text import one_line

Progress = Callable[[Place, int, int], None]
"""Is told of which memory how many notes are indexed, and of how many."""


class PlacedHit(NamedTuple):
    """A note that was found, and in which memory."""

    place: Place
    hit: Hit


class FoundInAll(NamedTuple):
    """What a search over many memories gave."""

    hits: tuple[PlacedHit, ...]
    total: int
    """How many notes there were, with those beyond `hits`."""


class _Opened(NamedTuple):
    place: Place
    search: Search
    values: Values


class SearchAll:
    """All memories of this machine, each as it was when this was made. For one thread at a time."""

    def __init__(
        self,
        surroundings: Surroundings,
        places: Sequence[Place] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Read the memories at `places`, by default all of this machine, and index each of them."""
        self.remarks: list[str] = []
        """Which memories could not be read, and why; visible text."""
        self._opened: list[_Opened] = []
        for place in all_memories(surroundings) if places is None else places:
            try:
                self._opened.append(_open(place, surroundings, progress))
            except (RicordoError, OSError) as error:
                self.remarks.append(f"{one_line(place.root)} was left out: {one_line(str(error))}")

    def find(self, typed: str, most: int = MOST) -> FoundInAll:
        """Return what fits `typed` in any memory: notes found by name first, the best kind of hit
        before all others, then those that say it, best first. Findings are not judged here: no note
        has what `is:` and `has:` ask for.
        """
        found = [(it.place, it.search.find(typed, it.values, most)) for it in self._opened]
        hits = [
            (_rank(hit, of_place), PlacedHit(place, hit))
            for place, of_place in found
            for hit in of_place.hits
        ]
        # stable: notes of equal rank stay in the order that their own memory gives them
        hits.sort(key=lambda it: it[0])
        total = sum(of_place.total for _, of_place in found)
        return FoundInAll(tuple(placed for _, placed in hits[:most]), total)


def _open(place: Place, surroundings: Surroundings, progress: Progress | None) -> _Opened:
    memory = read_memory(place.root, place.layout)
    index = open_index(place, surroundings)
    index.bring_up(memory, (lambda done, of: progress(place, done, of)) if progress else None)
    values = Values(uses=uses_by_person(surroundings, memory))
    return _Opened(place, Search(index, memory, surroundings), values)


def _rank(hit: Hit, found: Found) -> tuple[bool, float, int]:
    """Where a hit stands among those of all memories, the smallest first."""
    if hit.by_name:
        return False, -hit.result.score, len(hit.result.note.name)
    return True, -hit.result.score * found.best, 0
