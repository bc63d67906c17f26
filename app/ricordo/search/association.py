"""Related notes, found by spreading activation over links, sessions and folders.

Spreading activation as in J. R. Anderson, A spreading activation theory of memory (1983): the
activation of a note is divided among all its neighbours, and decays with every step.
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
from ricordo.search.store import list_targets

MAX_RELATED = 5
"""Notes; the same number as in recall."""
DECAY = 0.6
"""The share of an activation that remains after one step."""
MIN_ACTIVATION = 0.02
"""Weaker activations are not followed: that of one link among nine hundred in a note."""
MAX_STEPS = 3
"""Steps; a longer chain is hard to understand at a glance."""
LINKS_TO, LINKED_FROM, SAME_SESSION, SAME_FOLDER, GIVEN_WITH = 1.0, 0.8, 0.5, 0.2, 0.4
"""How strongly two notes are related. There is no data on this: these values and `FADING` are
chosen for the resulting order, which is a link, a backlink, two links in a row, the same session,
given together, three links in a row, the same folder.
"""
LINKS = ("links to", "linked from")
"""The relations by links."""
MAX_GROUP = 30
"""Notes of one session or folder; sharing a larger one means nothing. At this size the activation
is about `FAINTEST`.
"""


class AssociationStep(NamedTuple):
    """One step in a chain: the relation, in words, and the path of the next note."""

    relation: str
    path: str


class Association(NamedTuple):
    """A related note."""

    path: str
    strength: float
    """0 to 1."""
    steps: tuple[AssociationStep, ...]
    """The strongest chain; its last step is `path`."""


class _Edge(NamedTuple):
    path: str
    how: str
    weight: float


class Associations:
    """The relations of all notes of one memory, for many queries."""

    def __init__(self, memory: Memory, together: Iterable[tuple[str, str]] = ()) -> None:
        """`together` are pairs of paths of notes that agents were given at once."""
        self._memory = memory
        self._together: dict[str, set[str]] = {}
        for one, other in together:
            self._together.setdefault(one, set()).add(other)
            self._together.setdefault(other, set()).add(one)

    def find_related(self, path: str, most: int = MAX_RELATED) -> list[Association]:
        """Return at most `most` notes related to the one at `path`, strongest first."""
        reached: dict[str, Association] = {}
        queue: list[tuple[float, str, tuple[AssociationStep, ...]]] = [(-1.0, path, ())]
        while queue:
            strength, current, steps = heappop(queue)
            if current in reached or (current == path and steps):
                continue
            if steps:
                reached[current] = Association(current, -strength, steps)
            if len(steps) < MAX_STEPS:
                for edge in self._edges(current):
                    onward = -strength * DECAY * edge.weight
                    if onward >= MIN_ACTIVATION and edge.path not in reached and edge.path != path:
                        step = AssociationStep(edge.how, edge.path)
                        heappush(queue, (-onward, edge.path, (*steps, step)))
        ranked = sorted(reached.values(), key=lambda note: (-note.strength, note.path))
        return ranked[:most]

    def _edges(self, path: str) -> list[_Edge]:
        """Return the edges of a note; the weight of a relation is divided among its notes."""
        forward = self._targets(path)
        back = self._sources.get(path, ())
        to, back_from = LINKS
        edges = [_Edge(note, to, LINKS_TO / sqrt(len(forward))) for note in forward]
        edges += [_Edge(note, back_from, LINKED_FROM / sqrt(len(back))) for note in back]
        for how, weight, kin in (
            ("same session as", SAME_SESSION, self._sessions),
            ("same folder as", SAME_FOLDER, self._folders),
        ):
            others = [note for note in kin.get(path, ()) if note != path]
            if 0 < len(others) <= MAX_GROUP:
                edges += [_Edge(note, how, weight / sqrt(len(others))) for note in others]
        given = sorted(self._together.get(path, ()))
        weight = GIVEN_WITH / sqrt(len(given) or 1)
        return edges + [_Edge(note, "given together with", weight) for note in given]

    def _targets(self, path: str) -> list[str]:
        note = self._memory.by_path.get(path)
        if note is None:
            return []
        return [target for target in list_targets(self._memory, note) if self._is_note(target)]

    @cached_property
    def _sources(self) -> Mapping[str, Sequence[str]]:
        return {
            path: [source for source in sources if self._is_note(source)]
            for path, sources in self._memory.backlinks.items()
        }

    def _is_note(self, path: str) -> bool:
        """Return whether `path` is a note, not an index, which links to everything."""
        note = self._memory.by_path.get(path)
        return note is not None and note.role in (FileRole.NOTE, FileRole.SOURCE)

    @cached_property
    def _sessions(self) -> Mapping[str, Sequence[str]]:
        notes = self._memory.notes
        return self._kin(
            {note.path: note.frontmatter.get_text("originSessionId") for note in notes}
        )

    @cached_property
    def _folders(self) -> Mapping[str, Sequence[str]]:
        return self._kin({note.path: posixpath.dirname(note.path) for note in self._memory.notes})

    def _kin(self, shared: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
        """Return for each path the paths with the same value in `shared`; "" is no value."""
        by_value: dict[str, list[str]] = {}
        for path, value in shared.items():
            if value:
                by_value.setdefault(value, []).append(path)
        return {path: by_value[value] for path, value in shared.items() if value}
