"""The index of the statements of a memory by their words, which tells what is nearest to one.

After a change only the words of the changed notes are indexed again. A word that many statements
have tells little of a subject: of such words only the number of statements is kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import chain
from typing import NamedTuple, TypeVar

from ricordo.lint.contradictions.statements import NoteDigest

CROWD = 24
"""Statements with one word, or claims of one group, up to which they may be about one subject; more
are a list.
"""
_KEPT = 2 * CROWD
"""Statements with one word up to which their places stay known, so that a word that is rare again
is seldom looked for in all notes.
"""
_NEAREST = 5
"""Statements that are nearest by words to one."""
_EVERY = 50
"""Notes between two steps."""
_T = TypeVar("_T")


class Place(NamedTuple):
    """Where a statement or a fact is."""

    path: str
    number: int
    """Index of the statement in the note; for a fact that of the fact, counted down from -1."""


class NearStatement(NamedTuple):
    """A statement that shares words with another one."""

    weight: int
    """What both share: the fewer statements have a word, the more."""
    place: Place


@dataclass(frozen=True)
class StatementIndex:
    """The words of all statements of a memory at one moment."""

    size: int = 0
    """The number of statements."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """The number of statements with each word."""
    forms: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    """The number of notes with statements of the same words but for their values."""
    places: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)
    """The statements with each word that few have."""
    touched: frozenset[str] = frozenset()
    """The words by which other statements may be the nearest than before the last change."""

    def update(
        self,
        before: Mapping[str, NoteDigest],
        after: Mapping[str, NoteDigest],
        changed: Collection[str],
        step: Callable[[], None],
    ) -> StatementIndex:
        """Return the index after a change of the notes at the paths `changed`, with the digests of
        all notes before and after it. `step` is called every few milliseconds.
        """
        old, new = ([it[path] for path in changed if path in it] for it in (before, after))
        gone, added = _count_words(old), _count_words(_pace(new, step))
        words = gone.keys() | added.keys()
        counts = _add(self.counts, gone, added)
        # what was frequent is looked for in all notes once it is rare
        known = {
            word
            for word in words
            if counts.get(word, 0) <= _KEPT and (word in self.places or word not in self.counts)
        }
        fallen = {word for word in words - known if counts.get(word, 0) <= CROWD}
        wanted = known | fallen
        found = {
            word: [it for it in self.places.get(word, ()) if it.path not in changed]
            for word in wanted
        }
        for path in _pace(after if fallen else changed, step):
            sought = wanted if path in changed else fallen
            for at, subject in enumerate(after[path].subjects if path in after else ()):
                if common := sought.intersection(subject):
                    place = Place(path, at)
                    for word in common:
                        found[word].append(place)
        places = dict(self.places)
        for word in words:
            if its := found.get(word):
                places[word] = tuple(its)
            else:
                places.pop(word, None)
        return StatementIndex(
            self.size - _count_statements(old) + _count_statements(new),
            counts,
            _add(self.forms, _count_forms(old), _count_forms(_pace(new, step))),
            places,
            frozenset(
                word
                for word in words
                if min(counts.get(word, 0), self.counts.get(word, 0)) <= CROWD
                and _differ(places.get(word, ()), self.places.get(word, ()))
            ),
        )

    def find_nearest(self, path: str, words: Iterable[str]) -> tuple[NearStatement, ...]:
        """Return the statements of notes other than the one at `path` that share the most of the
        `words` of a statement, rare ones counting more; the nearest first.
        """
        weights: dict[Place, int] = defaultdict(int)
        for word in words:
            places = self.places.get(word, ())
            for it in places if len(places) <= CROWD else ():
                weights[it] += CROWD // len(places)
        near = [(weight, it) for it, weight in weights.items() if it.path != path]
        return tuple(NearStatement(*it) for it in nlargest(_NEAREST, near))


def _pace(items: Iterable[_T], step: Callable[[], None]) -> Iterator[_T]:
    """Yield the items, with a step every few milliseconds."""
    for number, item in enumerate(items):
        if not number % _EVERY:
            step()
        yield item


def _count_statements(digests: Iterable[NoteDigest]) -> int:
    return sum(len(it.statements) for it in digests)


def _count_words(digests: Iterable[NoteDigest]) -> Counter[str]:
    """Count the statements of some notes with each word."""
    return Counter(chain.from_iterable(words for it in digests for words in it.subjects))


def _count_forms(digests: Iterable[NoteDigest]) -> Counter[tuple[str, ...]]:
    """Count the notes with statements of the same words."""
    return Counter(chain.from_iterable(set(it.subjects) for it in digests))


def _differ(one: Collection[Place], other: Collection[Place]) -> bool:
    """Return whether two collections have different places, each of them once."""
    return len(one) != len(other) or set(one) != set(other)


def _add(
    counts: Mapping[_T, int], gone: Mapping[_T, int], added: Mapping[_T, int]
) -> dict[_T, int]:
    """Return `counts` without those that are gone and with those that were added."""
    if not counts:
        return dict(added)
    found = dict(counts)
    for key in gone.keys() | added.keys():
        count = found.get(key, 0) - gone.get(key, 0) + added.get(key, 0)
        if count:
            found[key] = count
        else:
            del found[key]
    return found
