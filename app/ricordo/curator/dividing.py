"""Dividing a brief that is not taken as a whole: its notes and turns, half by half.

A turn stays with the notes that it bears on for as long as it can, and what was said later stands
in a later piece. Every piece has all that stands around notes and turns: the schema, the index, the
names of the notes that it does not show; unless it is a bare one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from ricordo.curator.brief import ACTIVITY, OTHERS, TOUCHED, Brief, Part, name_of, size
from ricordo.curator.gist import gist

_DIVIDED = (TOUCHED, ACTIVITY)


class Unit(NamedTuple):
    """A note in full, or a turn: what gives way as a whole."""

    group: int
    """The number of the turn that it belongs to; -1 for a note that no turn bears on."""
    part: int
    number: int
    """Which block of the part it is."""
    block: str


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of the notes and turns of a brief, one behind the other."""

    whole: Brief
    units: tuple[Unit, ...]
    at: int = 0
    """How many units of the brief stand before it."""
    is_bare: bool = False
    """Whether nothing stands around them."""

    @property
    def brief(self) -> Brief:
        """It as a brief."""
        shown = {(it.part, it.number) for it in self.units}
        parts = list(self.whole.parts)
        for number, part in enumerate(parts):
            is_kept = number not in _DIVIDED and not self.is_bare
            blocks = (it for n, it in enumerate(part.blocks) if is_kept or (number, n) in shown)
            parts[number] = Part(part.title, tuple(blocks))
        if not self.is_bare:
            others = parts[OTHERS]
            parts[OTHERS] = Part(others.title, (*others.blocks, *self._hidden(shown)))
        return replace(self.whole, parts=tuple(parts))

    def _hidden(self, shown: Iterable[tuple[int, int]]) -> list[str]:
        """Return the notes that it does not show as they stand among the others."""
        names = (
            name_of(TOUCHED, block)
            for number, block in enumerate(self.whole.parts[TOUCHED].blocks)
            if (TOUCHED, number) not in shown
        )
        return [self.whole.listed[name] for name in names if name in self.whole.listed]

    @property
    def sources(self) -> tuple[str, ...]:
        """The paths of its notes and the sources of its turns."""
        known = {**dict(self.whole.ids), **dict(self.whole.sources)}
        return tuple(known[name_of(it.part, it.block)] for it in self.units)

    @property
    def bare(self) -> Piece:
        """It without what stands around."""
        return replace(self, is_bare=True)

    @property
    def halves(self) -> tuple[Piece, Piece]:
        """It in two, of about one size; it has two units at least."""
        cut = self._cut()
        first, second = self.units[:cut], self.units[cut:]
        return replace(self, units=first), replace(self, units=second, at=self.at + cut)

    def _cut(self) -> int:
        """Return how many units stand in the first half: between groups, where there are some."""
        units = self.units
        places = range(1, len(units))
        between = [n for n in places if units[n].group != units[n - 1].group]
        sizes = [size(it.block) for it in units]
        return min(between or places, key=lambda n: abs(sum(sizes[:n]) - sum(sizes[n:])))

    @property
    def is_mostly_around(self) -> bool:
        """Whether what stands around is more than the notes and turns themselves."""
        own = sum(size(it.block) for it in self.units)
        return not self.is_bare and size(self.brief.text) > 2 * own


def whole_of(brief: Brief) -> Piece:
    """Return a brief as one piece, its notes before the turns that they share most words with, of
    several the last.
    """
    turns = [_words(it) for it in brief.parts[ACTIVITY].blocks]
    units = [Unit(n, ACTIVITY, n, it) for n, it in enumerate(brief.parts[ACTIVITY].blocks)]
    for number, block in enumerate(brief.parts[TOUCHED].blocks):
        words = _words(block)
        shared = [(len(words & it), n) for n, it in enumerate(turns)]
        most, group = max(shared, default=(0, -1))
        units.append(Unit(group if most else -1, TOUCHED, number, block))
    return Piece(brief, tuple(sorted(units)))


def _words(block: str) -> frozenset[str]:
    """Return what the lines of a block are about, without the marks before them."""
    return gist("\n".join(line.partition("| ")[2] for line in block.split("\n")))
