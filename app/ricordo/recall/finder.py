"""Finding notes by name as it is typed, in the order that a person expects.

Exact name, beginning of the name, beginnings of its words, inside the name, in the path, in the
description, letters in their order, and at last typing errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.recall.blob import Blob, spaced
from ricordo.recall.likeness import spelled_alike
from ricordo.recall.store import indexed
from ricordo.recall.words import fold

MOST_HITS = 500
"""Of one kind; who types a single letter wants the first of them."""
ENOUGH = 5
"""With so many notes found, typing errors are not looked for."""
SHORTEST_ERROR = 4
"""Letters of a word in which a typing error is forgiven; in one of twice that, two are."""

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
        self._vocabulary: dict[str, list[str]] | None = None

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
        corrected = needle
        for word in needle.split():
            if len(word) >= SHORTEST_ERROR:
                alike = spelled_alike(word, self._words(word[0]), 1 + (len(word) >= 8))
                if not alike:
                    return
                corrected = corrected.replace(word, alike[0])
        if corrected != needle:
            yield from self._names.holding(corrected)

    def _words(self, letter: str) -> list[str]:
        if self._vocabulary is None:
            self._vocabulary = {}
            for word in sorted(set(self._names.text.split())):
                self._vocabulary.setdefault(word[0], []).append(word)
        return self._vocabulary.get(letter, [])


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
