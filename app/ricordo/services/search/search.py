"""Search: notes by what they are called and by what they say, under conditions."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from ricordo.agents.place import MemoryPlace
from ricordo.errors import RicordoError
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.search.finder import Finder, Named, marks
from ricordo.search.fuzzy import corrected
from ricordo.search.index import SearchIndex
from ricordo.search.query import parse
from ricordo.search.question import RecallQuestion
from ricordo.search.rank import FAST, SIFTED, Candidate, Ranking, rank
from ricordo.search.reader import Reader
from ricordo.search.select import reasons
from ricordo.search.snippet import passage, snippet
from ricordo.search.store import day_of, indexed
from ricordo.search.words import fold, words
from ricordo.services.search.conditions import Conditions, Fits, Values, asks_findings, values_of
from ricordo.services.search.recall import RecallResult, open_index
from ricordo.services.search.usage import uses_by_person
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Depth, Notebook, Snapshot
from ricordo.services.workspace.places import all_memories
from ricordo.settings.settings import Settings
from ricordo.text import one_line

MOST = 50

_Said = tuple[Note, float, tuple[str, ...]]


class Hit(NamedTuple):
    """A note that was found, and where what was typed stands in it."""

    result: RecallResult
    by_name: bool
    """Whether it was found by what it is called, not by what it says."""
    name_marks: tuple[tuple[int, int], ...] = ()
    is_unsure: bool = False
    """Whether it may be another name that is meant: such come last."""


class SearchResults(NamedTuple):
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


class Search:
    """The notes of one memory, ready to be searched; made once for a memory and asked often."""

    def __init__(
        self,
        index: SearchIndex,
        memory: Memory,
        environment: Environment,
        before: Search | None = None,
    ) -> None:
        """What is the same as in the memory of the search `before` is taken from there."""
        self._index = index
        self._memory = memory
        self._environment = environment
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

    def find_named(
        self, typed: str, values: Values | None = None, most: int = MOST
    ) -> SearchResults:
        """Return what `find` gives without the notes that only say it: no index is needed."""
        return self._find(typed, values or Values(), most, in_text=False)

    def find(self, typed: str, values: Values | None = None, most: int = MOST) -> SearchResults:
        """Return the notes that fit what was `typed`: those found by name first, in the order of
        the finder, then those that say it, best first, and at last those of which another name may
        be meant; ties by freshness and use.
        """
        return self._find(typed, values or Values(), most, in_text=True)

    def _find(self, typed: str, values: Values, most: int, *, in_text: bool) -> SearchResults:
        query = parse(typed)
        conditions = Conditions(query, self._memory, values)
        if remarks := conditions.remarks():
            return SearchResults((), 0, remarks=remarks)
        fits = conditions.fits()
        exact = [fold(it.value) for it in query.conditions if it.key == "exact" and not it.negated]
        if not query.words:
            return self._listed(fits, exact, values, most)
        named, is_all = self._finder.find(query.words, values.uses, fits)
        question = RecallQuestion(query.words, self._environment.now.date(), is_search=True)
        meant, total, best = question, len(named), 0.0
        saying: list[_Said] = []
        if in_text:
            ranking, total = self._ranked(question, [it.note.path for it in named], fits)
            best, saying = self._saying(ranking, self._order(values), fits)
            meant = ranking.question
        called, unsure = _parted(named, is_right=bool(saying) and meant is question)
        by_name = {it.note.path for it in called}
        said = [it for it in saying if it[0].path not in by_name]
        by_text = {note.path for note, _, _ in said}
        rest = [it for it in unsure if it.note.path not in by_text]
        hits = [_by_name(it, question, exact) for it in called[:most]]
        hits += [
            Hit(_result(note, score, why, meant, exact), by_name=False)
            for note, score, why in said[: most - len(hits)]
        ]
        hits += [
            _by_name(it, question, exact)._replace(is_unsure=True)
            for it in rest[: most - len(hits)]
        ]
        return SearchResults(tuple(hits), total, is_all, best)

    def _listed(
        self, fits: Fits | None, exact: Sequence[str], values: Values, most: int
    ) -> SearchResults:
        """All notes that fit the conditions, where there are any."""
        order = self._order(values)
        listed = [it for it in indexed(self._memory) if fits(it.path)] if fits else []
        listed.sort(key=lambda note: (*order(note), note.path))
        nothing = RecallQuestion("", self._environment.now.date())
        why = ("fits the conditions",)
        hits = [Hit(_result(it, 1.0, why, nothing, exact), by_name=False) for it in listed[:most]]
        return SearchResults(tuple(hits), len(listed))

    def _ranked(
        self, question: RecallQuestion, by_name: Collection[str], fits: Fits | None
    ) -> tuple[Ranking, int]:
        """What answers, and how many notes say it or are among those found `by_name`."""
        today = self._environment.now.date()
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


def _by_name(named: Named, question: RecallQuestion, exact: Sequence[str]) -> Hit:
    result = _result(named.note, 1 / (1 + named.tier), (named.why,), question, exact, named.told_by)
    return Hit(result, by_name=True, name_marks=marks(named.note.name, named.said))


def _result(
    note: Note,
    score: float,
    why: tuple[str, ...],
    question: RecallQuestion,
    exact: Sequence[str],
    text: str = "",
) -> RecallResult:
    """A note with the passage that speaks of the question; of its `text`, where some is given."""
    sought = question.stems, (*question.words, *exact)
    said, places = snippet(text, *sought) if text else passage(note, *sought)
    return RecallResult(note, score, why, said, places)


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


def _meant(reader: Reader, ranking: Ranking, today: date) -> RecallQuestion | None:
    """The question without typing errors: words that no note has, where one is spelled like them;
    None where there is nothing to correct.
    """
    unknown = ranking.lexicon.unknown
    meant = {word: corrected(word, reader.of_length) for word in unknown}
    if all(right in ("", word) for word, right in meant.items()):
        return None
    said = [meant.get(word) or word for word in words(ranking.question.text)]
    return RecallQuestion(" ".join(said), today)


Progress = Callable[[MemoryPlace, int, int], None]
"""Is told of which memory how many notes are indexed, and of how many."""


class PlacedHit(NamedTuple):
    """A note that was found, and the memory that it was found in."""

    place: MemoryPlace
    look: Snapshot
    hit: Hit


class AllSearchResults(NamedTuple):
    """What a search over many memories gave."""

    hits: tuple[PlacedHit, ...]
    total: int
    """How many notes there were, with those beyond `hits`."""
    is_all: bool = True
    """Whether there were no more than `total`."""
    remarks: tuple[str, ...] = ()
    """Which conditions no memory understands, and what they want."""


NOTHING = AllSearchResults((), 0)


class SearchAll:
    """All memories of this machine, each as it was when this was made. For one thread at a time."""

    def __init__(
        self,
        environment: Environment,
        settings: Settings,
        places: Sequence[MemoryPlace] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Read the memories at `places`, by default all of this machine, and index each of them."""
        self.remarks: list[str] = []
        """Which memories could not be read, and why; visible text."""
        self._opened: list[_Opened] = []
        for place in all_memories(environment) if places is None else places:
            try:
                self._opened.append(_Opened(Notebook(place, environment, settings), progress))
            except (RicordoError, OSError) as error:
                self.remarks.append(f"{one_line(place.root)} was left out: {one_line(str(error))}")

    def find(self, typed: str, most: int = MOST) -> AllSearchResults:
        """Return what fits `typed` in any memory: notes found by name first, the best kind of hit
        before all others, then those that say it, best first, and at last those of which another
        name may be meant. A memory is judged when a condition asks for its findings.
        """
        found = [(it, it.find(typed, most)) for it in self._opened]
        hits = [
            (_rank(hit, of_memory), PlacedHit(it.place, it.look, hit))
            for it, of_memory in found
            for hit in of_memory.hits
        ]
        # stable: notes of equal rank stay in the order that their own memory gives them
        hits.sort(key=lambda it: it[0])
        total = sum(of_memory.total for _, of_memory in found)
        is_all = all(of_memory.is_all for _, of_memory in found)
        placed = tuple(it for _, it in hits[:most])
        remarks = [of_memory.remarks for _, of_memory in found]
        # what one memory does not understand, such as the name of a note, another one may
        told = dict.fromkeys(chain.from_iterable(remarks)) if all(remarks) else ()
        return AllSearchResults(placed, total, is_all, tuple(told))


class _Opened:
    """One memory that is searched."""

    def __init__(self, notebook: Notebook, progress: Progress | None) -> None:
        self.place = place = notebook.place
        self._notebook = notebook
        memory = notebook.read()
        self.look = Snapshot(memory, (), (), notebook.surroundings.now, Depth.READ)
        index = open_index(place, notebook.surroundings)
        index.bring_up(memory, (lambda done, of: progress(place, done, of)) if progress else None)
        self._uses = uses_by_person(notebook.surroundings, memory)
        self._search = Search(index, memory, notebook.surroundings)

    def find(self, typed: str, most: int) -> SearchResults:
        values = self._judged if asks_findings(typed) else Values(uses=self._uses)
        return self._search.find(typed, values, most)

    @cached_property
    def _judged(self) -> Values:
        self.look = self._notebook.judge_closely(self.look.memory)
        return values_of(self.look, self._uses)


def _rank(hit: Hit, found: SearchResults) -> tuple[int, float, int]:
    """Where a hit stands among those of all memories, the smallest first."""
    if hit.by_name:
        return 2 * hit.is_unsure, -hit.result.score, len(hit.result.note.name)
    return 1, -hit.result.score * found.best, 0
