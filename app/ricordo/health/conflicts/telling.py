"""What is told of the notes that were found to repeat or contradict each other: no lists of like
things, nothing twice, and of doubts only the likeliest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ricordo.health.conflicts.compare import framed, opposed_in
from ricordo.health.conflicts.doubt import doubt_in
from ricordo.health.conflicts.keeping import SAME, SIMILAR, without_secrets
from ricordo.health.conflicts.lists import MANY, is_listed
from ricordo.health.conflicts.reading import read_claim
from ricordo.health.conflicts.sayings import Said
from ricordo.health.evidence import NotePair, Quote, Relation

MOST_DOUBTS = 200
"""Of one memory: most doubts are none."""

Paths = tuple[str, str]
"""Of two notes, in order."""


class Opposed(NamedTuple):
    """Two statements that cannot both hold, or that it is in doubt of."""

    left: Said
    right: Said
    reason: str
    distance: float | None = None
    """Of a doubt, how far the two are apart; None where they cannot both hold."""


def opposed_of(left: Said, right: Said) -> Opposed | None:
    """Return what two statements are to each other; None where both may hold."""
    pair = framed(read_claim(left.text), read_claim(right.text))
    if pair is None:
        return None
    if reason := opposed_in(pair):
        return Opposed(left, right, reason)
    # two descriptions say what the notes are about, not what is so
    doubt = None if left.in_head and right.in_head else doubt_in(pair)
    return Opposed(left, right, *doubt) if doubt else None


def told(
    opposed: Mapping[Paths, tuple[Opposed, ...]], repeating: Mapping[Paths, Relation]
) -> tuple[NotePair, ...]:
    """Return what is told: by path what is certain, then the doubts, the likeliest first. Who
    contradicts does not repeat, and of two notes of which something is certain nothing is in doubt.
    """
    certain = {
        paths: kept
        for paths, them in opposed.items()
        if (kept := tuple(it for it in them if it.distance is None))
    }
    pairs = list(_excluding(certain))
    told_of = {(it.left.path, it.right.path) for it in pairs}
    whole = {paths: it for paths, it in repeating.items() if paths not in told_of}
    pairs += [_of_whole(paths, it) for paths, it in whole.items() if it.is_certain]
    sure = {paths for paths, it in whole.items() if it.is_certain}
    opposing = list(_in_doubt(opposed, told_of | sure))
    told_of |= {(it.left.path, it.right.path) for it in opposing}
    similar = sorted(paths for paths in whole.keys() - sure if paths not in told_of)
    doubts = [*(_of_whole(paths, Relation.MAY_REPEAT) for paths in similar), *opposing]
    pairs.sort(key=lambda it: (it.left.path, it.right.path))
    return (*pairs, *doubts[:MOST_DOUBTS])


def _of_whole(paths: Paths, relation: Relation) -> NotePair:
    reason = SAME if relation is Relation.REPEATS else SIMILAR
    return NotePair(relation, Quote(paths[0], 0, ""), Quote(paths[1], 0, ""), reason)


def _pair(relation: Relation, paths: Paths, it: Opposed) -> NotePair:
    quotes = Quote(paths[0], *it.left[:2]), Quote(paths[1], *it.right[:2])
    return NotePair(relation, *quotes, without_secrets(it.reason, it.left.text, it.right.text))


def _in_doubt(
    opposed: Mapping[Paths, tuple[Opposed, ...]], told_of: set[Paths]
) -> Iterator[NotePair]:
    """Yield one doubt for two notes, the likeliest, and the likeliest of all first. A statement of
    which many notes say something like it is one of a list.
    """
    counts = _counts(opposed)
    nearest: list[tuple[float, Paths, Opposed]] = []
    for paths, them in opposed.items():
        alone = [it for it in them if _notes(counts, paths, it) < MANY]
        if alone and paths not in told_of:
            it = min(alone, key=lambda it: it.distance or 0.0)
            nearest.append((it.distance or 0.0, paths, it))
    for _, paths, it in sorted(nearest, key=lambda them: them[:2]):
        yield _pair(Relation.MAY_EXCLUDE, paths, it)


def _excluding(opposed: Mapping[Paths, tuple[Opposed, ...]]) -> Iterator[NotePair]:
    """Yield every two notes that exclude each other, with what is told of them: of many notes that
    tell of one thing each is told once, against the first.
    """
    told: set[tuple[str, str]] = set()
    for paths, them in _unlisted(opposed):
        # head and body may say the same twice
        once = {
            it.reason: it
            for it, notes in reversed(them)
            if notes < MANY or (paths[1], it.right.text) not in told
        }
        told.update((paths[1], it.right.text) for it in once.values())
        yield from (_pair(Relation.EXCLUDES, paths, it) for it in reversed(once.values()))


def _unlisted(
    opposed: Mapping[Paths, tuple[Opposed, ...]],
) -> Iterator[tuple[Paths, list[tuple[Opposed, int]]]]:
    """Every two notes that exclude each other by more than lists of like things, with how many
    notes one of the two statements is excluded by.
    """
    counts = _counts(opposed)
    for paths, them in sorted(opposed.items()):
        crowds = [(it, _notes(counts, paths, it)) for it in them]
        kept = [it for it in crowds if not is_listed(it[0].left.text, it[0].right.text, it[1])]
        if kept:
            yield paths, kept


def _counts(opposed: Mapping[Paths, tuple[Opposed, ...]]) -> Counter[tuple[str, str]]:
    """How many notes each statement of a note is opposed to."""
    counts: Counter[tuple[str, str]] = Counter()
    for (left, right), them in opposed.items():
        counts.update({(left, it.left.text) for it in them})
        counts.update({(right, it.right.text) for it in them})
    return counts


def _notes(counts: Counter[tuple[str, str]], paths: Paths, it: Opposed) -> int:
    return max(counts[paths[0], it.left.text], counts[paths[1], it.right.text])
