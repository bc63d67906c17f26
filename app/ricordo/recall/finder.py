"""Finding notes by name as it is typed, in the order that a person expects.

Exact name, beginning of the name, beginnings of its words, inside the name, in the path, in the
description, letters in their order, and at last typing errors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.recall.blob import Blob, spaced
from ricordo.recall.likeness import corrected
from ricordo.recall.store import indexed
from ricordo.recall.words import fold

MOST_HITS = 500
"""Of one kind; who types a single letter wants the first of them."""
ENOUGH = 5
"""With so many notes found, typing errors are not looked for."""
_KINDS = ("exact name", "name begins", "word of the name", "in the name", "in the path")
_SCATTERED = "letters of the name"
_LATER = ("in the description", _SCATTERED, "spelled like the name")


class Named(NamedTuple):
    """A note that was found by what it is called."""

    note: Note
    tier: int
    """0 for the best kind of hit."""
    why: str

    @property
    def is_scattered(self) -> bool:
        """Whether no more than the letters stand in the name, in their order."""
        return self.why == _SCATTERED


class Finder:
    """The names of one memory, ready to be searched; made once for a memory and asked often."""

    def __init__(self, memory: Memory) -> None:
        self.notes = tuple(indexed(memory))
        self._names = Blob([spaced(note.name) for note in self.notes])
        self._paths = Blob([spaced(note.path.removesuffix(".md")) for note in self.notes])
        self._descriptions = Blob([spaced(note.description) for note in self.notes])

    def find(
        self,
        typed: str,
        order: Callable[[Note], tuple[object, ...]],
        fits: Callable[[str], bool] | None = None,
    ) -> list[Named]:
        """Return the notes whose name, path or description fits what was `typed`, best kind of hit
        first, within a kind the shorter name first, then by `order`; only those with a path that
        `fits`.
        """
        needle = spaced(typed)
        if not needle:
            return []
        found: dict[int, int] = {}
        for tier, numbers in enumerate(self._tiers(needle)):
            for number in islice(self._sifted(numbers, fits), MOST_HITS):
                found.setdefault(number, tier)
        if len(found) < ENOUGH:
            for number in self._sifted(self._misspelled(needle), fits):
                found.setdefault(number, len(_KINDS) + 2)
        kinds = (*_KINDS, *_LATER)
        named = [Named(self.notes[number], tier, kinds[tier]) for number, tier in found.items()]
        named.sort(key=lambda it: (it.tier, len(it.note.name), *order(it.note), it.note.path))
        return named

    def misspelled(self, typed: str) -> list[Note]:
        """Return the notes with a name that is spelled like what was `typed`, though not so."""
        return [self.notes[number] for number in self._misspelled(spaced(typed))]

    def _sifted(self, numbers: Iterator[int], fits: Callable[[str], bool] | None) -> Iterator[int]:
        if fits is None:
            return numbers
        return (number for number in numbers if fits(self.notes[number].path))

    def _tiers(self, needle: str) -> Iterator[Iterator[int]]:
        names = self._names
        yield names.holding(f"\n{needle}\n")
        yield names.holding(f"\n{needle}")
        yield names.holding(f" {needle}")
        yield names.holding(needle)
        yield self._paths.holding(needle)
        yield self._descriptions.holding(f" {needle}")
        letters = needle.replace(" ", "")
        if 2 <= len(letters) <= 30:
            # to each next letter without ever going back, so that no name makes it slow
            rest = "".join(rf"[^\n{letter}]*+{letter}" for letter in letters[1:])
            yield names.matching(letters[0] + rest)

    def _misspelled(self, needle: str) -> Iterator[int]:
        """The notes with a name in which every word is spelled like one of the needle."""
        meant = [corrected(word, self._of_length) for word in needle.split()]
        spelled = " ".join(word for word in meant if word)
        if all(meant) and spelled != needle:
            yield from self._names.holding(spelled)

    def _of_length(self, letters: int) -> Collection[str]:
        return self._words.get(letters, ())

    @cached_property
    def _words(self) -> Mapping[int, set[str]]:
        """The words of all names by how many letters they have; numbers are not misspelled."""
        words: dict[int, set[str]] = {}
        for word in filter(str.isalpha, self._names.text.split()):
            words.setdefault(len(word), set()).add(word)
        return words


def marks(text: str, typed: str) -> tuple[tuple[int, int], ...]:
    """Return where what was `typed` stands in `text`, start and end of each piece: whole where it
    does, else word by word, else letter by letter.
    """
    folded = fold(text)
    if len(folded) != len(text):
        return ()
    for needles in ([fold(typed).strip()], fold(typed).split()):
        places = [(at, at + len(it)) for it in needles if it and (at := folded.find(it)) >= 0]
        if places and len(places) == len(needles):
            return tuple(sorted(places))
    return _letters(folded, fold(typed))


def _letters(folded: str, typed: str) -> tuple[tuple[int, int], ...]:
    places, at = [], 0
    for letter in typed:
        if letter.isspace():
            continue
        at = folded.find(letter, at)
        if at < 0:
            return ()
        places.append((at, at + 1))
        at += 1
    return tuple(places)
