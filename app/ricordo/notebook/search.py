"""Search: notes by what they are called and by what they say, under conditions."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from typing import NamedTuple

from ricordo.health.rule import all_rules
from ricordo.health.rules.pairs import RULE_OF
from ricordo.memory.memory import Memory
from ricordo.memory.names import folded
from ricordo.memory.note import Note
from ricordo.notebook.open import Look
from ricordo.notebook.recall import Result
from ricordo.notebook.surroundings import Surroundings
from ricordo.recall.finder import Finder, Named, marks
from ricordo.recall.index import Index
from ricordo.recall.likeness import corrected
from ricordo.recall.query import Condition, Query, day_meant, looks_like_day, parse
from ricordo.recall.question import Question
from ricordo.recall.rank import FAST, SIFTED, Candidate, Ranking, rank
from ricordo.recall.reader import Reader
from ricordo.recall.record import day_of
from ricordo.recall.select import reasons
from ricordo.recall.snippet import snippet
from ricordo.recall.store import indexed, targets
from ricordo.recall.words import fold, words
from ricordo.text import one_line

MOST = 50

Fits = Callable[[str], bool]
"""Says of the path of a note whether every condition holds of it."""
_Said = tuple[Note, float, tuple[str, ...]]

PROTECTED = "protected"
"""What `is:` says of a note that is not changed without asking."""
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
    is_unsure: bool = False
    """Whether it may be another name that is meant: such come last."""


class Found(NamedTuple):
    """What a search gave."""

    hits: tuple[Hit, ...]
    total: int
    """How many notes there were, with those beyond `hits`."""
    is_all: bool = True
    """Whether there were no more than `total`: of very many names only the first are counted."""
    best: float = 0.0
    """What the note that says it best weighs, beside the best of other memories; the scores of
    notes found by what they say are shares of it.
    """
    remarks: tuple[str, ...] = ()
    """Which conditions cannot be understood, and what they want; with any nothing is found."""


def asks_findings(typed: str) -> bool:
    """Say whether a condition of what was `typed` asks what is wrong or true of a note."""
    return any(it.key in ("is", "has") for it in parse(typed).conditions)


def values_of(look: Look, uses: Mapping[str, int] | None = None) -> Values:
    """Return what the conditions are judged by, from a memory that was judged."""
    labels = {
        path: {finding.rule for finding in findings} for path, findings in look.by_path.items()
    }
    for pair in look.evidence.pairs:
        # a finding on two notes is told of one of them, but is true of both
        rule = RULE_OF[pair.relation]
        if pair.relation.is_certain and rule in labels.get(pair.left.path, ()):
            labels.setdefault(pair.right.path, set()).add(rule)
    for note in look.memory.notes:
        if look.is_protected(note):
            labels.setdefault(note.path, set()).add(PROTECTED)
    return Values(labels, uses or {})


class Search:
    """The notes of one memory, ready to be searched; made once for a memory and asked often."""

    def __init__(
        self,
        index: Index,
        memory: Memory,
        surroundings: Surroundings,
        before: Search | None = None,
    ) -> None:
        """What is the same as in the memory of the search `before` is taken from there."""
        self._index = index
        self._memory = memory
        self._surroundings = surroundings
        notes = indexed(memory)
        known = before._memory.by_path if before else {}
        days = before._days if before else {}
        self._days: Mapping[str, int] = {
            it.path: days[it.path] if known.get(it.path) is it else _day(it) for it in notes
        }
        self._finder: Finder = Finder(notes, self._days, before._finder if before else None)

    def prepare(self) -> None:
        """Make now what only some searches need, so that no key has to wait for it."""
        _ = self._memory.by_path
        self._finder.prepare()

    def find_named(self, typed: str, values: Values | None = None, most: int = MOST) -> Found:
        """Return what `find` gives without the notes that only say it: no index is needed."""
        return self._find(typed, values or Values(), most, in_text=False)

    def find(self, typed: str, values: Values | None = None, most: int = MOST) -> Found:
        """Return the notes that fit what was `typed`: those found by name first, in the order of
        the finder, then those that say it, best first, and at last those of which another name may
        be meant; ties by freshness and use.
        """
        return self._find(typed, values or Values(), most, in_text=True)

    def _find(self, typed: str, values: Values, most: int, *, in_text: bool) -> Found:
        query = parse(typed)
        if remarks := tuple(_remarks(query, values)):
            return Found((), 0, remarks=remarks)
        fits = self._conditions(query, values) if query.conditions else None
        order = self._order(values)
        if not query.words:
            listed = [it for it in indexed(self._memory) if fits(it.path)] if fits else []
            listed.sort(key=lambda note: (*order(note), note.path))
            hits = [self._listed(note, query) for note in listed[:most]]
            return Found(tuple(hits), len(listed))
        named, is_all = self._finder.find(query.words, values.uses, fits)
        question = Question(query.words, self._surroundings.now.date(), is_typed=True)
        meant, total, best = question, len(named), 0.0
        saying: list[_Said] = []
        if in_text:
            ranking, total = self._ranked(question, [it.note.path for it in named], fits)
            best, saying = self._saying(ranking, order, fits)
            meant = ranking.question
        called, unsure = _parted(named, is_right=bool(saying) and meant is question)
        by_name = {it.note.path for it in called}
        said = [it for it in saying if it[0].path not in by_name]
        by_text = {note.path for note, _, _ in said}
        rest = [it for it in unsure if it.note.path not in by_text]
        hits = [self._named(it, query.words, question) for it in called[:most]]
        hits += [
            self._hit(note, score, why, "", meant, False)
            for note, score, why in said[: most - len(hits)]
        ]
        hits += [
            self._named(it, query.words, question)._replace(is_unsure=True)
            for it in rest[: most - len(hits)]
        ]
        return Found(tuple(hits), total, is_all, best)

    def _ranked(
        self, question: Question, by_name: Collection[str], fits: Fits | None
    ) -> tuple[Ranking, int]:
        """What answers, and how many notes say it or are among those found `by_name`."""
        today = self._surroundings.now.date()
        breadth = SIFTED if fits else FAST

        def holds(path: bytes) -> bool:
            return fits is None or fits(os.fsdecode(path))

        def answer(reader: Reader) -> tuple[Ranking, int]:
            ranking = rank(reader, question, today, breadth, holds if fits else None)
            if meant := _meant(reader, ranking, today):
                ranking = rank(reader, meant, today, breadth, holds if fits else None)
            found = {os.fsencode(path) for path in by_name}
            found.update(it.row.path for it in _with_words(ranking) if holds(it.row.path))
            if not ranking.lexicon.terms:
                return ranking, len(found)
            match = ranking.lexicon.expression(breadth.occurrences)
            if fits:
                found.update(path for _, path in reader.all_matching(match) if holds(path))
                return ranking, len(found)
            return ranking, len(found) + reader.count_beside(match, found)

        return self._index.ask(self._memory, answer)

    def _saying(
        self, ranking: Ranking, order: Callable[[Note], tuple[object, ...]], fits: Fits | None
    ) -> tuple[float, list[_Said]]:
        """What the best note that says it weighs, and all that do, with their shares of that."""
        found = _with_words(ranking)
        best = found[0].score if found else 1.0
        said = [
            (
                self._memory.by_path[os.fsdecode(it.row.path)],
                round(it.score / best, 3),
                tuple(reasons(it, ranking)),
            )
            for it in found
            if (path := os.fsdecode(it.row.path)) in self._memory.by_path
            and (fits is None or fits(path))
        ]
        said.sort(key=lambda it: (-it[1], *order(it[0]), it[0].path))
        return best, said

    def _order(self, values: Values) -> Callable[[Note], tuple[object, ...]]:
        """Ties: the fresher first, then what the person used more."""

        def key(note: Note) -> tuple[object, ...]:
            return (-self._days[note.path], -values.uses.get(note.path, 0))

        return key

    def _named(self, named: Named, typed: str, question: Question) -> Hit:
        score = 1 / (1 + named.tier)
        return self._hit(named.note, score, (named.why,), typed, question, True)

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

    def _conditions(self, query: Query, values: Values) -> Fits:
        # those that read a whole text come last: most notes need not be read
        ordered = sorted(query.conditions, key=lambda it: it.key in ("exact", "word"))
        tests = [(self._test(it, values), it.negated) for it in ordered]
        notes = self._memory.by_path

        @cache
        def fits(path: str) -> bool:
            # the index may be newer than the memory
            note = notes.get(path)
            return note is not None and all(test(note) != negated for test, negated in tests)

        return fits

    def _test(self, condition: Condition, values: Values) -> Callable[[Note], bool]:
        value = fold(condition.value)
        match condition.key:
            case "type":
                return lambda note: fold(note.type) == value
            case "is" | "has":
                label = _SAME_AS.get(value, value)
                return lambda note: label in values.labels.get(note.path, ())
            case "after":
                since = day_meant(value)
                return lambda note: day_of(note) >= since
            case "before":
                until = day_meant(value)
                return lambda note: bool(day := day_of(note)) and day < until
            case "in":
                return lambda note: note.path.startswith(condition.value.rstrip("/") + "/")
            case ">":
                called = self._called(condition.value)
                return lambda note: not called.isdisjoint(targets(self._memory, note))
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


def _day(note: Note) -> int:
    """The day of the last change of a note, as a number that grows."""
    return int(day_of(note).replace("-", "") or 0)


def _parted(named: Sequence[Named], *, is_right: bool) -> tuple[list[Named], list[Named]]:
    """Those of the notes found by name that are meant, and those that may not be: many names hold
    the letters of any short word, and others are spelled like a word that `is_right` as typed.
    """
    called: list[Named] = []
    unsure: list[Named] = []
    for it in named:
        is_unsure = it.is_scattered or (it.is_misspelled and is_right)
        (unsure if is_unsure else called).append(it)
    return called, unsure


def _with_words(ranking: Ranking) -> list[Candidate]:
    return [it for it in ranking.candidates if it.evidence.frequency or it.evidence.begun]


def _meant(reader: Reader, ranking: Ranking, today: date) -> Question | None:
    """The question without typing errors: words that no note has, where one is spelled like them;
    None where there is nothing to correct.
    """
    unknown = ranking.lexicon.unknown
    meant = {word: corrected(word, reader.of_length) for word in unknown}
    if all(right in ("", word) for word, right in meant.items()):
        return None
    said = [meant.get(word) or word for word in words(ranking.question.text)]
    return Question(" ".join(said), today)


def _remarks(query: Query, values: Values) -> Iterator[str]:
    for condition in query.conditions:
        key, value = condition.key, fold(condition.value)
        typed = one_line(condition.value)
        if key in ("after", "before") and not day_meant(value):
            is_written_so = looks_like_day(value)
            fault = f"“{typed}” is not in the calendar" if is_written_so else f"not “{typed}”"
            yield f"{key}: wants 2026-05 or 2026-05-01, {fault}"
        elif key in ("is", "has") and not _is_label(_SAME_AS.get(value, value), values):
            yield f"{key}: wants the name of a rule or “protected”, not “{typed}”"


def _is_label(label: str, values: Values) -> bool:
    known = label == PROTECTED or label in all_rules()
    return known or any(label in labels for labels in values.labels.values())


def _says(note: Note, said: list[str]) -> bool:
    every = {*words(note.text), *words(note.path)}
    return bool(said) and every.issuperset(said)
