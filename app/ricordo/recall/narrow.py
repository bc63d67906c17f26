"""Narrowing a list to the notes that fit what is typed; their order is the list's own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.recall.blob import Blob, spaced
from ricordo.recall.spelling import Spelling

_APART = " | "
"""Between the texts of one note; nothing that is typed reaches across it."""


class Narrower:
    """The files of one memory, ready to be narrowed; made once for a memory and asked often."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._blob = Blob([_APART.join(_texts(memory, file)) for file in memory.files])

    def fitting(self, typed: str) -> frozenset[str]:
        """Return the paths of the files of which every word that was `typed` stands in the name,
        the path, the description, or a title in an index; where there are none, of those with a
        name that is spelled like it.
        """
        needles = [needle for word in typed.split() if (needle := spaced(word))]
        if not needles:
            return frozenset()
        numbers = set.intersection(*(set(self._blob.holding(needle)) for needle in needles))
        if numbers:
            return frozenset(self._memory.files[number].path for number in numbers)
        names, spelling = self._spelling
        meant = spelling.meant(spaced(typed))
        numbers = set(names.holding(meant)) if meant else set()
        return frozenset(self._memory.files[number].path for number in numbers)

    def prepare(self) -> None:
        """Make now what only names that are spelled otherwise need."""
        self._spelling[1].prepare()

    @cached_property
    def _spelling(self) -> tuple[Blob, Spelling]:
        """The names, and their words."""
        names = Blob([spaced(file.name) for file in self._memory.files])
        return names, Spelling(names)


def _texts(memory: Memory, file: Note) -> Iterator[str]:
    entries = memory.entries.get(file.path, ())
    names = {spaced(it) for it in {file.name, *(entry.title for _, entry in entries)}}
    path = spaced(file.path)
    yield from names
    yield path
    # who types getusername means getUserName
    yield from (name.replace(" ", "") for name in (*names, path))
    yield spaced(file.description)
