"""Search: notes by what they are called and by what they say, under conditions."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import NamedTuple

from ricordo.memory.memory import Memory
from ricordo.memory.names import folded
from ricordo.memory.note import Note
from ricordo.notebook.open import Look
from ricordo.notebook.recall import Result
from ricordo.notebook.surroundings import Surroundings
from ricordo.recall.finder import Finder, marks
from ricordo.recall.index import Index
from ricordo.recall.query import Condition, Query, parse
from ricordo.recall.question import Question
from ricordo.recall.rank import FAST, Ranking, rank
from ricordo.recall.record import day_of
from ricordo.recall.select import reasons
from ricordo.recall.snippet import snippet
from ricordo.recall.store import indexed, targets
from ricordo.recall.words import fold, words

MOST = 50

_SAME_AS = {"conflict": "contradiction", "conflicts": "contradiction"}
"""Words of conditions that name a rule otherwise than the rule does."""


class Values(NamedTuple):
    """What conditions and ties are judged by, beside the notes themselves."""

    labels: Mapping[str, Collection[str]] = {}
    """For `is:` and `has:`: by path, what is true of a note, such as the rules of its findings."""
    uses: Mapping[str, int] = {}
    """How often the person opened or confirmed a note, by path."""


class Hit(NamedTuple):
    """A note that was found, and where what was typed stands in it."""

    result: Result
    by_name: bool
    """Whether it was found by what it is called, not by what it says."""
    name_marks: tuple[tuple[int, int], ...] = ()


class Found(NamedTuple):
    """What a search gave."""

    hits: tuple[Hit, ...]
    total: int
    """How many notes there were, with those beyond `hits`."""
    best: float = 0.0
    """What the note that says it best weighs, beside the best of other memories; the scores of
    notes found by what they say are shares of it.
    """


def asks_findings(typed: str) -> bool:
    """Say whether a condition of what was `typed` asks what is wrong or true of a note."""
    return any(it.key in ("is", "has") for it in parse(typed).conditions)


def values_of(look: Look, uses: Mapping[str, int] | None = None) -> Values:
    """Return what the conditions are judged by, from a memory that was judged."""
    labels = {
        path: {finding.rule for finding in findings} for path, findings in look.by_path.items()
    }
    for note in look.memory.notes:
        if look.is_protected(note):
            labels.setdefault(note.path, set()).add("protected")
    return Values(labels, uses or {})


class Search:
    """The notes of one memory, ready to be searched; made once for a memory and asked often."""

    def __init__(self, index: Index, memory: Memory, surroundings: Surroundings) -> None:
        self._index = index
        self._memory = memory
        self._surroundings = surroundings
        self._finder = Finder(memory)

    def find_named(self, typed: str, values: Values | None = None, most: int = MOST) -> Found:
        """Return what `find` gives without the notes that only say it: no index is needed."""
        return self._find(parse(typed), values or Values(), most, in_text=False)

    def find(self, typed: str, values: Values | None = None, most: int = MOST) -> Found:
        """Return the notes that fit what was `typed`: those found by name first, in the order of
        the finder, then those that say it, best first; ties by freshness and use.
        """
        return self._find(parse(typed), values or Values(), most, in_text=True)

    def _find(self, query: Query, values: Values, most: int, *, in_text: bool) -> Found:
        fits = self._conditions(query, values)
        order = self._order(values)
        if not query.words:
            listed = [it for it in indexed(self._memory) if fits(it)] if query.conditions else []
            listed.sort(key=lambda note: (*order(note), note.path))
            hits = [self._listed(note, query) for note in listed[:most]]
            return Found(tuple(hits), len(listed))
        named = [it for it in self._finder.find(query.words, order) if fits(it.note)]
        question = Question(query.words, self._surroundings.now.date())
        by_name = {it.note.path for it in named}
        ranking = self._ranked(question) if in_text else None
        best, saying = self._saying(ranking, order) if ranking else (0.0, [])
        said = [it for it in saying if it[0].path not in by_name]
        said = [it for it in said if fits(it[0])]
        hits = [
            self._hit(it.note, 1 / (1 + it.tier), (it.why,), query.words, question, True)
            for it in named[:most]
        ]
        hits += [
            self._hit(note, score, why, query.words, question, False)
            for note, score, why in said[: most - len(hits)]
        ]
        return Found(tuple(hits), len(named) + len(said), best)

    def _ranked(self, question: Question) -> Ranking:
        today = self._surroundings.now.date()
        return self._index.ask(self._memory, lambda reader: rank(reader, question, today, FAST))

    def _saying(
        self, ranking: Ranking, order: Callable[[Note], tuple[object, ...]]
    ) -> tuple[float, list[tuple[Note, float, tuple[str, ...]]]]:
        """What the best note that says it weighs, and all that do, with their shares of that."""
        found = [it for it in ranking.candidates if it.evidence.frequency or it.evidence.begun]
        best = found[0].score if found else 1.0
        said = [
            (
                self._memory.by_path[os.fsdecode(it.row.path)],
                round(it.score / best, 3),
                tuple(reasons(it, ranking)),
            )
            for it in found
            if os.fsdecode(it.row.path) in self._memory.by_path  # the index may be newer
        ]
        said.sort(key=lambda it: (-it[1], *order(it[0]), it[0].path))
        return best, said

    def _order(self, values: Values) -> Callable[[Note], tuple[object, ...]]:
        """Ties: the fresher first, then what the person used more."""

        def key(note: Note) -> tuple[object, ...]:
            return (-self._days[note.path], -values.uses.get(note.path, 0))

        return key

    @cached_property
    def _days(self) -> Mapping[str, int]:
        """For every note the day of its last change, as a number that grows."""
        return {
            note.path: int(day_of(note).replace("-", "") or 0) for note in indexed(self._memory)
        }

    def _listed(self, note: Note, query: Query) -> Hit:
        exact = [it.value for it in query.conditions if it.key == "exact" and not it.negated]
        question = Question(" ".join(exact), self._surroundings.now.date())
        return self._hit(note, 1.0, ("fits the conditions",), "", question, False)

    def _hit(
        self,
        note: Note,
        score: float,
        why: tuple[str, ...],
        typed: str,
        question: Question,
        by_name: bool,
    ) -> Hit:
        text, places = snippet(note.body, question.stems)
        result = Result(note, score, why, text, places)
        return Hit(result, by_name, marks(note.name, typed) if by_name else ())

    def _conditions(self, query: Query, values: Values) -> Callable[[Note], bool]:
        tests = [(self._test(it, values), it.negated) for it in query.conditions]
        return lambda note: all(test(note) != negated for test, negated in tests)

    def _test(self, condition: Condition, values: Values) -> Callable[[Note], bool]:
        value = fold(condition.value)
        match condition.key:
            case "type":
                return lambda note: fold(note.type) == value
            case "is" | "has":
                label = _SAME_AS.get(value, value)
                return lambda note: label in values.labels.get(note.path, ())
            case "after":
                return lambda note: day_of(note) >= value
            case "before":
                return lambda note: bool(day := day_of(note)) and day < value
            case "in":
                return lambda note: note.path.startswith(condition.value.rstrip("/") + "/")
            case ">":
                return lambda note: bool(
                    self._called(condition.value).intersection(targets(self._memory, note))
                )
            case "<":
                reached = self._reached(condition.value)
                return lambda note: note.path in reached
            case "exact":
                return lambda note: value in fold(note.text)
            case _:
                said = words(condition.value)
                return lambda note: _says(note, said)

    def _called(self, name: str) -> frozenset[str]:
        names = self._memory.names
        exact = frozenset(names.called(name))
        return exact or frozenset(
            it.path for it in self._memory.files if folded(it.stem).startswith(folded(name))
        )

    def _reached(self, name: str) -> frozenset[str]:
        files = self._memory.by_path
        return frozenset(
            it for path in self._called(name) for it in targets(self._memory, files[path])
        )


def _says(note: Note, said: list[str]) -> bool:
    every = {*words(note.text), *words(note.path)}
    return bool(said) and every.issuperset(said)
