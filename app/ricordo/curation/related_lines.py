"""Lines of other notes that are about the same things as some notes: what a check compares with
them, as notes that contradict each other seldom fit into one question.

Two lines are near when they share stems that few notes have; the longer they are, the less that
says (as in BM25, S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework, 2009, without
the frequency within a line).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from math import sqrt
from typing import NamedTuple

from ricordo.curation.gist import extract_stems
from ricordo.curation.placement import SharedStems
from ricordo.memory.note import Note

_NEAREST_NOTES = 40
"""Notes whose lines are compared with those of one note."""
_FEWEST = 3
"""Stems of a line that says something."""
_NEAREST_LINES = 10
"""Lines that are near to one line."""
_LATER = 0.2
"""How much less each of them counts than the one before it."""
_SHORT = 8
"""Stems that are added to a line's length, so that short lines are not the nearest to all."""
_COMMON, _FEW = 0.2, 10
"""The share of lines with a stem, above which the stem says nothing, where they are not few."""


class RelatedLine(NamedTuple):
    """A line of another note."""

    path: str
    number: int
    """From 1."""
    text: str
    weight: float


def find_related_lines(
    shared: SharedStems, notes: Sequence[Note], most: int, step: Callable[[], None]
) -> list[RelatedLine]:
    """Return the lines of other notes that are near to lines of `notes`, the nearest first, at most
    `most` for each of them. `step` is called for each note.
    """
    own = {note.path for note in notes}
    best: dict[tuple[str, int], RelatedLine] = {}
    for note in notes:
        step()
        nearest = shared.list_by_rarity(note.text, _NEAREST_NOTES)
        others = [it for it in nearest if it.path not in own]
        for it in sorted(_compare(note, others, shared), key=_rank)[:most]:
            place = it.path, it.number
            if place not in best or best[place].weight < it.weight:
                best[place] = it
    return sorted(best.values(), key=_rank)


def _rank(it: RelatedLine) -> tuple[float, str, int]:
    """Return the sort key: the nearest line first."""
    return -it.weight, it.path, it.number


def _compare(note: Note, others: Iterable[Note], shared: SharedStems) -> Iterator[RelatedLine]:
    """Yield the lines of `others` that are near to one of `note`, each with its highest weight."""
    lines = [(other.path, *line) for other in others for line in _list_lines(other)]
    having: dict[str, list[int]] = defaultdict(list)
    for place, (*_, stems) in enumerate(lines):
        for stem in stems:
            having[stem].append(place)
    most = max(_FEW, _COMMON * len(lines))
    highest: dict[int, float] = defaultdict(float)
    for _, _, stems in _list_lines(note):
        weights: dict[int, float] = defaultdict(float)
        for stem in stems:
            places = having.get(stem, ())
            if len(places) <= most:
                for place in places:
                    weights[place] += shared.weigh(stem)
        ranked = sorted(
            ((weight / sqrt(_SHORT + len(lines[it][3])), it) for it, weight in weights.items()),
            reverse=True,
        )
        for rank, (weight, it) in enumerate(ranked[:_NEAREST_LINES]):
            highest[it] = max(highest[it], weight / (1 + _LATER * rank))
    for it, weight in highest.items():
        path, number, text, _ = lines[it]
        yield RelatedLine(path, number, text, weight)


def _list_lines(note: Note) -> Iterator[tuple[int, str, Collection[str]]]:
    """Yield the lines of a note that say something, each with its number and stems."""
    for number, text in enumerate(note.text.split("\n"), 1):
        stems = extract_stems(text)
        if len(stems) >= _FEWEST:
            yield number, text, stems
