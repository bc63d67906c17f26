"""What a note reminds of: activation that spreads from it over links and kinship.

Spreading activation as in J. R. Anderson, A spreading activation theory of memory (1983): what
flows out of a note is shared by all it leads to, and fades with every step.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush
from math import sqrt
from typing import NamedTuple

from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.search.store import targets

MOST = 5
"""Notes; as many as recall gives."""
FADING = 0.6
"""What is left of an activation after one step."""
FAINTEST = 0.02
"""An activation that is not followed further: that of a link among nine hundred of one note."""
FARTHEST = 3
"""Steps; of a longer way nobody sees at a glance why it leads there."""
LINKS_TO, LINKED_FROM, SAME_SESSION, SAME_FOLDER, GIVEN_WITH = 1.0, 0.8, 0.5, 0.2, 0.4
"""How strongly two notes belong together. There is no data on what a note should remind of: these
and `FADING` are chosen for the order that they give, which is a link, a link back, two links in a
row, the same session, given together, three links in a row, the same folder.
"""
LINKS = ("links to", "linked from")
"""Ways that somebody wrote."""
LARGEST_KIN = 30
"""Notes of one session or folder, beyond which sharing it says nothing; at so many it is about as
faint as `FAINTEST` allows.
"""


class AssociationStep(NamedTuple):
    """One step on the way: how it leads, as a person would say it, and to which note."""

    how: str
    path: str


class Association(NamedTuple):
    """A note that another one reminds of."""

    path: str
    strength: float
    """0 to 1."""
    steps: tuple[AssociationStep, ...]
    """The strongest way there, its last step leading to `path`."""


class _Edge(NamedTuple):
    path: str
    how: str
    weight: float


class Associations:
    """What the notes of one memory remind of; made once for a memory and asked often."""

    def __init__(self, memory: Memory, together: Iterable[tuple[str, str]] = ()) -> None:
        """`together` are pairs of paths of notes that agents were given at once."""
        self._memory = memory
        self._together: dict[str, set[str]] = {}
        for one, other in together:
            self._together.setdefault(one, set()).add(other)
            self._together.setdefault(other, set()).add(one)

    def of(self, path: str, most: int = MOST) -> list[Association]:
        """Return what the note at `path` reminds of, strongest first."""
        reached: dict[str, Association] = {}
        waiting: list[tuple[float, str, tuple[AssociationStep, ...]]] = [(-1.0, path, ())]
        while waiting:
            strength, here, steps = heappop(waiting)
            if here in reached or (here == path and steps):
                continue
            if steps:
                reached[here] = Association(here, -strength, steps)
            if len(steps) < FARTHEST:
                for edge in self._edges(here):
                    onward = -strength * FADING * edge.weight
                    if onward >= FAINTEST and edge.path not in reached and edge.path != path:
                        step = AssociationStep(edge.how, edge.path)
                        heappush(waiting, (-onward, edge.path, (*steps, step)))
        found = sorted(reached.values(), key=lambda it: (-it.strength, it.path))
        return found[:most]

    def _edges(self, path: str) -> list[_Edge]:
        """What a note leads to; every weight is shared by as many as there are of its kind."""
        forward = self._targets(path)
        back = self._sources.get(path, ())
        to, back_from = LINKS
        edges = [_Edge(it, to, LINKS_TO / sqrt(len(forward))) for it in forward]
        edges += [_Edge(it, back_from, LINKED_FROM / sqrt(len(back))) for it in back]
        for how, weight, kin in (
            ("same session as", SAME_SESSION, self._sessions),
            ("same folder as", SAME_FOLDER, self._folders),
        ):
            others = [it for it in kin.get(path, ()) if it != path]
            if 0 < len(others) <= LARGEST_KIN:
                edges += [_Edge(it, how, weight / sqrt(len(others))) for it in others]
        given = sorted(self._together.get(path, ()))
        edges += [_Edge(it, "given together with", GIVEN_WITH / sqrt(len(given))) for it in given]
        return edges

    def _targets(self, path: str) -> list[str]:
        note = self._memory.by_path.get(path)
        if note is None:
            return []
        return [it for it in targets(self._memory, note) if self._is_note(it)]

    @cached_property
    def _sources(self) -> Mapping[str, Sequence[str]]:
        return {
            path: [it for it in sources if self._is_note(it)]
            for path, sources in self._memory.backlinks.items()
        }

    def _is_note(self, path: str) -> bool:
        """An index leads to everything, which says nothing."""
        note = self._memory.by_path.get(path)
        return note is not None and note.role in (FileRole.NOTE, FileRole.SOURCE)

    @cached_property
    def _sessions(self) -> Mapping[str, Sequence[str]]:
        return self._kin({it.path: it.head.scalar("originSessionId") for it in self._memory.notes})

    @cached_property
    def _folders(self) -> Mapping[str, Sequence[str]]:
        return self._kin({it.path: posixpath.dirname(it.path) for it in self._memory.notes})

    def _kin(self, shared: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
        by_value: dict[str, list[str]] = {}
        for path, value in shared.items():
            if value:
                by_value.setdefault(value, []).append(path)
        return {path: by_value[value] for path, value in shared.items() if value}
