"""Comparing the notes of a memory with each other: which repeat, and which contradict each other,
and of which it is in doubt.

Candidates are found by blocking, so that no note is compared with every other one. What was found
is kept: after a change only the pairs of the notes that changed are made anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ricordo.garbage import no_garbage_collection
from ricordo.health.conflicts.blocking import MOST_PLACES, Blocks
from ricordo.health.conflicts.digest import Digest, digest, is_class
from ricordo.health.conflicts.repeats import alike, alike_to, common_sayings, repetition
from ricordo.health.conflicts.telling import Opposed, Paths, opposed_of, told
from ricordo.health.evidence import NotePair, Relation
from ricordo.memory.layout import Role
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

MOST_CHANGED = 50
"""Notes changed since the index of statements was made, up to which it is not made anew."""
_MOST_OWN = 2
"""Words that a statement may have for itself, beyond as many as both share, where both name a
thing of one class.
"""
_EVERY = 50
"""Notes, pairs or statements between two steps."""

Step = Callable[[], None]


class _Place(NamedTuple):
    path: str
    number: int
    """Which statement of the note."""


@dataclass(slots=True)
class _Known:
    """What is known of a memory at one moment."""

    texts: dict[str, bytes] = field(default_factory=dict)
    digests: dict[str, Digest] = field(default_factory=dict)
    blocks: Blocks | None = None
    places: list[_Place] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    """Paths of the notes that are other than they were when `blocks` were made."""
    opposed: dict[Paths, tuple[Opposed, ...]] = field(default_factory=dict)
    """What cannot both hold, and what it is in doubt of."""
    repeating: dict[Paths, Relation] = field(default_factory=dict)


class Comparing:
    """Compares the notes of one memory, again and again; not for use from two threads at once."""

    def __init__(self) -> None:
        self._known = _Known()

    def pairs(self, memory: Memory, step: Step = lambda: None) -> tuple[NotePair, ...]:
        """Return the notes of `memory` that repeat or contradict each other, ordered by path.

        `step` is called every few milliseconds; when it raises, what was known before stays known.
        """
        notes = {it.path: it for it in memory.notes if it.role is Role.NOTE and it.readable}
        known = self._known
        changed = {p for p, note in notes.items() if known.texts.get(p) != note.raw}
        gone = known.texts.keys() - notes.keys()
        if changed or gone:
            with no_garbage_collection():
                self._known = self._brought_up(notes, changed, gone, step)
        return told(self._known.opposed, self._known.repeating)

    def _brought_up(
        self, notes: Mapping[str, Note], changed: set[str], gone: Collection[str], step: Step
    ) -> _Known:
        before = self._known
        digests = {path: it for path, it in before.digests.items() if path in notes}
        for number, path in enumerate(changed):
            if not number % _EVERY:
                step()
            digests[path] = digest(notes[path])
        known = _Known({path: note.raw for path, note in notes.items()}, digests)
        touched = changed.union(gone)
        known.changed = before.changed | touched
        if before.blocks is None or len(known.changed) > MOST_CHANGED:
            _compare_all(known, notes, step)
        else:
            known.blocks, known.places = before.blocks, before.places
            known.opposed = {
                paths: it for paths, it in before.opposed.items() if touched.isdisjoint(paths)
            }
            known.repeating = {
                paths: it for paths, it in before.repeating.items() if touched.isdisjoint(paths)
            }
            _compare_changed(known, notes, changed, step)
        return known


def _compare_all(known: _Known, notes: Mapping[str, Note], step: Step) -> None:
    known.changed = set()
    digests = known.digests
    known.places = [
        _Place(path, number)
        for path in sorted(digests)
        for number in range(len(digests[path].sayings))
    ][:MOST_PLACES]
    subjects = [digests[it.path].subjects[it.number] for it in known.places]
    known.blocks = Blocks(subjects, step)
    near = (
        (known.places[one], known.places[other])
        for one, other in known.blocks.pairs()
        if _may_exclude(subjects[one], subjects[other])
    )
    known.opposed = _opposed_of(known, near, step)
    step()
    known.repeating = _repeating(known, notes, alike(digests), step)


def _compare_changed(
    known: _Known, notes: Mapping[str, Note], changed: Iterable[str], step: Step
) -> None:
    changed = sorted(changed)
    for path in changed:
        step()
        near = list(_near(known, path))
        known.opposed |= _opposed_of(known, near, step)
        again = {
            (min(path, it), max(path, it))
            for it in alike_to(known.digests[path], known.digests)
            if it != path
        }
        known.repeating |= _repeating(known, notes, again, step)


def _near(known: _Known, path: str) -> Iterator[tuple[_Place, _Place]]:
    """The statements that are worth comparing with those of a changed note."""
    assert known.blocks is not None
    others = sorted(known.changed & known.digests.keys() - {path})
    fresh = [
        (_Place(it, number), words)
        for it in others
        for number, words in enumerate(known.digests[it].subjects)
    ]
    for number, words in enumerate(known.digests[path].subjects):
        here = _Place(path, number)
        for at in known.blocks.near(words):
            there = known.places[at]
            if there.path not in known.changed and _may_exclude(
                words, known.digests[there.path].subjects[there.number]
            ):
                yield here, there
        yield from ((here, there) for there, its in fresh if _may_exclude(words, its))


def _may_exclude(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two statements speak of so much the same that one may exclude the other."""
    shared = set(one).intersection(other)
    most = max(len(one), len(other))
    own = _MOST_OWN if most > 2 * len(shared) and any(map(is_class, shared)) else 0
    return 0 < most <= 2 * len(shared) + own


def _opposed_of(
    known: _Known, near: Iterable[tuple[_Place, _Place]], step: Step
) -> dict[Paths, tuple[Opposed, ...]]:
    found: dict[Paths, list[Opposed]] = defaultdict(list)
    for number, (one, other) in enumerate(near):
        if not number % _EVERY:
            step()
        if one.path == other.path:
            continue
        one, other = sorted((one, other))
        left, right = (known.digests[it.path].sayings[it.number] for it in (one, other))
        if (it := opposed_of(left, right)) is not None:
            found[one.path, other.path].append(it)
    return {paths: tuple(sorted(it, key=_plainness)) for paths, it in found.items()}


def _plainness(it: Opposed) -> tuple[int, int, int]:
    """Sort key: what the bodies say comes before what descriptions sum up."""
    return (it.left.in_head + it.right.in_head, it.left.line, it.right.line)


def _repeating(
    known: _Known, notes: Mapping[str, Note], candidates: Iterable[Paths], step: Step
) -> dict[Paths, Relation]:
    found: dict[Paths, Relation] = {}
    todo = sorted(candidates)
    common = common_sayings(known.digests) if todo else frozenset()
    for one, other in todo:
        step()
        digests = known.digests[one], known.digests[other]
        if (relation := repetition(notes[one], notes[other], digests, common)) is not None:
            found[one, other] = relation
    return found
