"""Walking over links: what a few notes lead to. Standard library alone."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RESTART = 0.35
STEPS = 10
"""How likely a walker begins again at one of the notes it came from, and how long it walks (the
design's figures; they took HotpotQA from .770 to .880).
"""


def neighbours(links: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """Return for every note those that it links to or that link to it: a link tells of both."""
    found: dict[int, set[int]] = {}
    for source, target in links:
        found.setdefault(source, set()).add(target)
        found.setdefault(target, set()).add(source)
    return found


def pagerank(seeds: Mapping[int, float], links: Iterable[tuple[int, int]]) -> dict[int, float]:
    """Return how often a walker who begins at the `seeds`, by their weight, comes to each note,
    all together 1: personalised PageRank (T. Haveliwala, Topic-Sensitive PageRank, 2002).
    """
    around = neighbours(links)
    total = sum(seeds.values())
    start = {note: weight / total for note, weight in seeds.items()} if total else {}
    mass = dict(start)
    for _ in range(STEPS):
        after = {note: RESTART * weight for note, weight in start.items()}
        for note, here in mass.items():
            reached = around.get(note)
            if not reached:
                after[note] = after.get(note, 0.0) + (1 - RESTART) * here
                continue
            share = (1 - RESTART) * here / len(reached)
            for other in reached:
                after[other] = after.get(other, 0.0) + share
        mass = after
    return mass
