"""Which notes share words with a text.

Recall stays silent where nothing bears plainly on a message; here a few shared words are enough to
look closer.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from math import log

from ricordo.curator.gist import gist
from ricordo.memory.layout import Role
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

_FEWEST = 3
"""Stems that a note shares with the text."""
_COMMONEST = 200
"""Notes with one stem, beyond which it tells nothing."""


class Overlap:
    """The stems of the notes of one memory; made when it is first asked."""

    def __init__(self, memory: Memory) -> None:
        """Nothing is read yet."""
        self._memory = memory

    def nearest(self, text: str, most: int) -> list[Note]:
        """Return the notes that share most with `text`, the rarest stems counting most."""
        shared: dict[str, int] = defaultdict(int)
        weight: dict[str, float] = defaultdict(float)
        for stem in gist(text):
            paths = self._by_stem.get(stem, ())
            if len(paths) > _COMMONEST:
                continue
            for path in paths:
                shared[path] += 1
                weight[path] += log(1 + len(self._memory.notes) / len(paths))
        near = [path for path, count in shared.items() if count >= _FEWEST]
        near.sort(key=lambda path: (-weight[path], path))
        return [self._memory.by_path[path] for path in near[:most]]

    @cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for note in self._memory.notes:
            if note.role is Role.NOTE and note.readable:
                for stem in gist(f"{note.name} {note.description} {note.body}"):
                    found[stem].append(note.path)
        return found
