"""Search: notes by name and by text, with conditions."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ricordo.agents.agent import MemoryPlace
from ricordo.errors import RicordoError
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.search.finder import Finder, NameHit, find_marks
from ricordo.search.fuzzy import correct_word
from ricordo.search.index import SearchIndex
from ricordo.search.matching_lines import MatchingLines, find_matching_lines
from ricordo.search.phrase import Phrase
from ricordo.search.query import Query, parse_alternatives
from ricordo.search.question import RecallQuestion
from ricordo.search.rank import (
    FAST,
    FILTERED,
    LEAST_WORDS,
    Candidate,
    Ranking,
    find_similar_paths,
    rank,
)
from ricordo.search.reader import IndexReader
from ricordo.search.select import list_reasons
from ricordo.search.snippet import extract_passage, extract_snippet
from ricordo.search.store import find_day, list_indexed
from ricordo.search.words import split_words
from ricordo.services.search.conditions import (
    Conditions,
    ConditionValues,
    PathFilter,
    collect_values,
    needs_findings,
)
from ricordo.services.search.recall import RecallResult, open_index
from ricordo.services.search.suggestion import MOST_WORDS, list_near_words, relax
from ricordo.services.search.usage import count_uses
from ricordo.services.workspace.environment import Environment
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Notebook, Snapshot
    from ricordo.settings.settings import Settings

MAX_HITS = 50
MOST_SIMILAR, LEAST_SIMILAR = 5, 0.35
"""Notes that are found by their meaning only, and how similar they are at least."""
SIMILAR = "similar in meaning"
"""Why they are found."""

_TextMatch = tuple[Note, float, tuple[str, ...]]
"""A note, its score relative to the best one, and the reasons."""


class SearchTerms(NamedTuple):
    """What of a query is marked in the notes that it finds."""

    stems: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    phrases: tuple[Phrase, ...] = ()


class Hit(NamedTuple):
    """A note that was found."""

    result: RecallResult
    by_name: bool
    """Whether it was found by name, not by text."""
    name_marks: tuple[tuple[int, int], ...] = ()
    """Start and end of the matching characters in its name."""
    by_meaning: bool = False
    """Whether it only resembles the query in meaning: such hits come last of all."""
    is_unsure: bool = False
    """Whether its name only matches loosely: such hits come last."""
    terms: SearchTerms = SearchTerms()

    def find_lines(self, most: int = 3) -> MatchingLines:
        """Return the lines of the note that match, at most `most` of them, and their number."""
        terms = self.terms
        return find_matching_lines(
            self.result.note, terms.stems, terms.words, terms.phrases, most=most
        )


class SearchResults(NamedTuple):
    """The results of a search."""

    hits: tuple[Hit, ...]
    total: int
    """Number of matching notes, with those beyond `hits`."""
    is_exact: bool = True
    """Whether `total` is exact: of very many names only the first are counted."""
    best: float = 0.0
    """Score of the best note by text, for comparison with other memories; the scores of hits by
    text are relative to it.
    """
    warnings: tuple[str, ...] = ()
    """Invalid conditions, and what they expect; if there are any, nothing is searched."""


class Search:
    """The notes of one memory, ready to be searched; created once per memory and used often."""

    def __init__(
        self,
        index: SearchIndex,
        memory: Memory,
        environment: Environment,
        before: Search | None = None,
    ) -> None:
        """`before` is an earlier search, whose data on unchanged notes is reused."""
        self._index = index
        self._memory = memory
        self._environment = environment
        notes = list_indexed(memory)
        known = before._memory.by_path if before else {}
        days = before._days if before else {}
        self._days: Mapping[str, int] = {
            note.path: days[note.path] if known.get(note.path) is note else _day(note)
            for note in notes
        }
        self._finder: Finder = Finder(notes, self._days, before._finder if before else None)

    def prepare(self) -> None:
        """Prepare what only some searches need, so that no key waits for it."""
        _ = self._memory.by_path
        self._finder.prepare()

    def find_named(
        self, typed: str, values: ConditionValues | None = None, most: int = MAX_HITS
    ) -> SearchResults:
        """Return what `find` returns without hits by text only: needs no index."""
        return self._find(typed, values or ConditionValues(), most, in_text=False)

    def find(
        self, typed: str, values: ConditionValues | None = None, most: int = MAX_HITS
    ) -> SearchResults:
        """Return the notes that match the query `typed`: hits by name first, in the order of the
        finder, then hits by text, best first, and last loose matches of names; ties by freshness
        and use.
        """
        return self._find(typed, values or ConditionValues(), most, in_text=True)

    def _find(
        self, typed: str, values: ConditionValues, most: int, *, in_text: bool
    ) -> SearchResults:
        queries = parse_alternatives(typed)
        conditions = [Conditions(query, self._memory, values) for query in queries]
        if warnings := tuple(chain.from_iterable(it.list_warnings() for it in conditions)):
            return SearchResults((), 0, warnings=tuple(dict.fromkeys(warnings)))
        results = []
        for query, it in zip(queries, conditions, strict=True):
            fits = it.build_filter()
            of_query = self._find_alternative(query, fits, values, most, in_text=in_text)
            results.append(self._add_similar(of_query, query, fits, most) if in_text else of_query)
        return results[0] if len(results) == 1 else self._merge(results, values, most)

    def _add_similar(
        self, results: SearchResults, query: Query, fits: PathFilter | None, most: int
    ) -> SearchResults:
        """Return `results` with the notes that resemble `query` in meaning after all others."""
        question = RecallQuestion(query.words, self._environment.now.date(), is_search=True)
        if len(question.words) < LEAST_WORDS or len(results.hits) >= most:
            return results
        hits = list(results.hits)
        found = {hit.result.note.path for hit in hits}
        for path, similarity in self._index.query(
            self._memory, lambda reader: find_similar_paths(reader, question, MOST_SIMILAR)
        ):
            note = self._memory.by_path.get(os.fsdecode(path))
            fitting = note and note.path not in found and (fits is None or fits(note.path))
            if note and fitting and similarity >= LEAST_SIMILAR and len(hits) < most:
                hit = _hit(note, round(similarity, 3), (SIMILAR,), SearchTerms())
                hits.append(hit._replace(by_meaning=True))
        total = results.total + len(hits) - len(results.hits)
        return results._replace(hits=tuple(hits), total=total)

    def suggest(self, typed: str, values: ConditionValues | None = None) -> tuple[str, ...]:
        """Return what to try instead of the query `typed`, which has no results, as sentences."""
        values = values or ConditionValues()
        queries = parse_alternatives(typed)

        def count(query: Query) -> int:
            fits = Conditions(query, self._memory, values).build_filter()
            return self._find_alternative(query, fits, values, 1, in_text=True).total

        hints = [hint for query in queries for hint in relax(query, count)]
        if near := self.list_near_words(typed):
            hints.append(f"Nearest words in the notes: {', '.join(near)}.")
        return tuple(dict.fromkeys(hints))

    def list_near_words(self, typed: str) -> list[str]:
        """Return words of the notes that resemble words of the query `typed` that no note has."""
        queries = parse_alternatives(typed)
        phrases = (it for query in queries for it in query.conditions if it.key == "exact")
        texts = [query.words for query in queries] + [it.value for it in phrases if not it.negated]
        words = list(dict.fromkeys(chain.from_iterable(map(split_words, texts))))
        return self._index.query(self._memory, lambda reader: list_near_words(reader, words))

    def _find_alternative(
        self,
        query: Query,
        fits: PathFilter | None,
        values: ConditionValues,
        most: int,
        *,
        in_text: bool,
    ) -> SearchResults:
        phrases = tuple(
            Phrase(it.value) for it in query.conditions if it.key == "exact" and not it.negated
        )
        if not query.words:
            return self._listed(fits, SearchTerms(phrases=phrases), values, most)
        named, is_all = self._finder.find(query.words, values.uses, fits)
        question = RecallQuestion(query.words, self._environment.now.date(), is_search=True)
        respelled, total, best = question, len(named), 0.0
        matches: list[_TextMatch] = []
        if in_text:
            ranking, total = self._rank(question, [it.note.path for it in named], fits)
            best, matches = self._text_matches(ranking, self._order(values), fits)
            respelled = ranking.question
        is_spelled_right = bool(matches) and respelled is question
        sure, unsure = _split_unsure(named, is_spelled_right=is_spelled_right)
        by_name = {it.note.path for it in sure}
        matches = [match for match in matches if match[0].path not in by_name]
        by_text = {note.path for note, _, _ in matches}
        rest = [it for it in unsure if it.note.path not in by_text]
        typed, meant = (SearchTerms(it.stems, it.words, phrases) for it in (question, respelled))
        hits = [_hit_by_name(it, typed) for it in sure[:most]]
        hits += [_hit(note, score, why, meant) for note, score, why in matches[: most - len(hits)]]
        hits += [
            _hit_by_name(it, typed)._replace(is_unsure=True) for it in rest[: most - len(hits)]
        ]
        return SearchResults(tuple(hits), total, is_all, best)

    def _merge(
        self, alternatives: Sequence[SearchResults], values: ConditionValues, most: int
    ) -> SearchResults:
        """Return the notes that match any of the alternatives, each once, as its best hit."""
        order = self._order(values)
        ranked = [
            ((*_rank_hit(hit, results), *order(hit.result.note)), hit)
            for results in alternatives
            for hit in results.hits
        ]
        ranked.sort(key=lambda pair: pair[0])
        by_path: dict[str, Hit] = {}
        for _, hit in ranked:
            by_path.setdefault(hit.result.note.path, hit)
        # of more notes than are shown it is not known which match several alternatives
        is_all = all(len(results.hits) == results.total for results in alternatives)
        total = len(by_path) if is_all else max(len(by_path), *(it.total for it in alternatives))
        is_exact = is_all and all(results.is_exact for results in alternatives)
        best = max(results.best for results in alternatives)
        return SearchResults(tuple(by_path.values())[:most], total, is_exact, best)

    def _listed(
        self, fits: PathFilter | None, terms: SearchTerms, values: ConditionValues, most: int
    ) -> SearchResults:
        """Return all notes that fit the conditions; none without conditions."""
        order = self._order(values)
        notes = [note for note in list_indexed(self._memory) if fits(note.path)] if fits else []
        notes.sort(key=lambda note: (*order(note), note.path))
        why = ("matches the conditions",)
        hits = [_hit(it, 1.0, why, terms) for it in notes[:most]]
        return SearchResults(tuple(hits), len(notes))

    def _rank(
        self, question: RecallQuestion, by_name: Collection[str], fits: PathFilter | None
    ) -> tuple[Ranking, int]:
        """Return the ranking by text, and the number of notes that match by text or `by_name`."""
        today = self._environment.now.date()
        breadth = FILTERED if fits else FAST

        def is_fitting(path: bytes) -> bool:
            return fits is None or fits(os.fsdecode(path))

        def answer(reader: IndexReader) -> tuple[Ranking, int]:
            ranking = rank(reader, question, today, breadth, is_fitting if fits else None)
            if respelled := _correct_spelling(reader, ranking, today):
                ranking = rank(reader, respelled, today, breadth, is_fitting if fits else None)
            paths = {os.fsencode(path) for path in by_name}
            paths.update(it.row.path for it in _with_words(ranking) if is_fitting(it.row.path))
            if not ranking.lexicon.terms:
                return ranking, len(paths)
            match = ranking.lexicon.build_expression(breadth.occurrences)
            if fits:
                paths.update(path for _, path in reader.iterate_matching(match) if is_fitting(path))
                return ranking, len(paths)
            return ranking, len(paths) + reader.count_beside(match, paths)

        return self._index.query(self._memory, answer)

    def _text_matches(
        self, ranking: Ranking, order: Callable[[Note], tuple[object, ...]], fits: PathFilter | None
    ) -> tuple[float, list[_TextMatch]]:
        """Return the best score by text, and all matches by text with scores relative to it."""
        candidates = _with_words(ranking)
        best = candidates[0].score if candidates else 1.0
        matches = [
            (
                self._memory.by_path[os.fsdecode(candidate.row.path)],
                round(candidate.score / best, 3),
                tuple(list_reasons(candidate, ranking)),
            )
            for candidate in candidates
            if (path := os.fsdecode(candidate.row.path)) in self._memory.by_path
            and (fits is None or fits(path))
        ]
        matches.sort(key=lambda match: (-match[1], *order(match[0]), match[0].path))
        return best, matches

    def _order(self, values: ConditionValues) -> Callable[[Note], tuple[object, ...]]:
        """Return the sort key for ties: newer notes first, then those that the user used more."""

        def key(note: Note) -> tuple[object, ...]:
            return (-self._days[note.path], -values.uses.get(note.path, 0))

        return key


def _hit_by_name(named: NameHit, terms: SearchTerms) -> Hit:
    score, why = 1 / (1 + named.tier), (named.kind,)
    hit = _hit(named.note, score, why, terms, named.matched_text)
    marks = find_marks(named.note.name, named.matched)
    return hit._replace(by_name=True, name_marks=marks)


def _hit(note: Note, score: float, why: tuple[str, ...], terms: SearchTerms, text: str = "") -> Hit:
    """Return a note with the passage that matches `terms`; from `text`, if given."""
    stems, phrases = terms.stems, terms.phrases
    if text:
        shown, places = extract_snippet(text, stems, terms.words, phrases=phrases)
    else:
        shown, places = extract_passage(note, stems, terms.words, phrases)
    return Hit(RecallResult(note, score, why, shown, places), by_name=False, terms=terms)


def _day(note: Note) -> int:
    """Return the day of the last change of a note as a sortable number; 0 if unknown."""
    return int(find_day(note).replace("-", "") or 0)


def _split_unsure(
    named: Sequence[NameHit], *, is_spelled_right: bool
) -> tuple[list[NameHit], list[NameHit]]:
    """Return sure and unsure matches by name. Unsure are abbreviations, as many names begin with
    the letters of a short word, and names with another spelling if the query `is_spelled_right`.
    """
    sure: list[NameHit] = []
    unsure: list[NameHit] = []
    for it in named:
        is_unsure = it.is_abbreviated or (it.is_misspelled and is_spelled_right)
        (unsure if is_unsure else sure).append(it)
    return sure, unsure


def _with_words(ranking: Ranking) -> list[Candidate]:
    return [it for it in ranking.candidates if it.evidence.frequency or it.evidence.begun]


def _correct_spelling(reader: IndexReader, ranking: Ranking, today: date) -> RecallQuestion | None:
    """Return the question with unknown words replaced by similar known ones; None if there is
    nothing to correct.
    """
    unknown = ranking.lexicon.unknown
    corrections = {word: correct_word(word, reader.find_by_length) for word in unknown}
    if all(right in ("", word) for word, right in corrections.items()):
        return None
    respelled = [corrections.get(word) or word for word in split_words(ranking.question.text)]
    return RecallQuestion(" ".join(respelled), today)


IndexProgress = Callable[[MemoryPlace, int, int], None]
"""Called with a memory, the number of its indexed notes, and the number of its notes."""


class PlacedHit(NamedTuple):
    """A hit, and the memory in which it was found."""

    place: MemoryPlace
    snapshot: Snapshot
    hit: Hit


class AllSearchResults(NamedTuple):
    """The results of a search in many memories."""

    hits: tuple[PlacedHit, ...]
    total: int
    """Number of matching notes, with those beyond `hits`."""
    is_exact: bool = True
    """Whether `total` is exact."""
    warnings: tuple[str, ...] = ()
    """Conditions that are invalid in every memory, and what they expect."""
    hints: tuple[str, ...] = ()
    """What to try, if nothing matches."""


NO_RESULTS = AllSearchResults((), 0)


class SearchAll:
    """All memories of this machine, each as it was at construction. Not thread-safe."""

    def __init__(
        self,
        environment: Environment,
        settings: Settings,
        places: Sequence[MemoryPlace] | None = None,
        progress: IndexProgress | None = None,
    ) -> None:
        """Read the memories at `places`, by default all of this machine, and index each of them."""
        from ricordo.services.workspace.notebook import Notebook
        from ricordo.services.workspace.places import find_all_memories

        self.warnings: list[str] = []
        """Memories that could not be read, and why; visible text."""
        self._opened: list[_Opened] = []
        for place in find_all_memories(environment) if places is None else places:
            try:
                self._opened.append(_Opened(Notebook(place, environment, settings), progress))
            except (RicordoError, OSError) as error:
                self.warnings.append(
                    f"{make_one_line(place.root)} skipped: {make_one_line(str(error))}"
                )

    def find(self, typed: str, most: int = MAX_HITS) -> AllSearchResults:
        """Return the matches of `typed` in any memory: hits by name first, then hits by text, best
        first, and last loose matches of names. A memory is judged if a condition needs its
        findings.
        """
        results = [(opened, opened.find(typed, most)) for opened in self._opened]
        hits = [
            (_rank_hit(hit, of_memory), PlacedHit(opened.place, opened.snapshot, hit))
            for opened, of_memory in results
            for hit in of_memory.hits
        ]
        # stable sort: hits of equal rank keep the order of their memory
        hits.sort(key=lambda ranked: ranked[0])
        total = sum(of_memory.total for _, of_memory in results)
        is_all = all(of_memory.is_exact for _, of_memory in results)
        placed = tuple(hit for _, hit in hits[:most])
        warnings = [of_memory.warnings for _, of_memory in results]
        # a condition that is invalid in one memory, such as the name of a note, may fit another
        shown = dict.fromkeys(chain.from_iterable(warnings)) if all(warnings) else ()
        hints = () if placed or shown else self._suggest(typed)
        return AllSearchResults(placed, total, is_all, tuple(shown), hints)

    def _suggest(self, typed: str) -> tuple[str, ...]:
        near = dict.fromkeys(chain.from_iterable(it.list_near_words(typed) for it in self._opened))
        words = ", ".join(list(near)[:MOST_WORDS])
        return (f"Nearest words in the notes: {words}.",) if words else ()


class _Opened:
    """One memory that is searched."""

    def __init__(self, notebook: Notebook, progress: IndexProgress | None) -> None:
        from ricordo.services.workspace.notebook import Depth, Snapshot

        self.place = place = notebook.place
        self._notebook = notebook
        memory = notebook.read()
        self.snapshot = Snapshot(memory, (), (), notebook.environment.now, Depth.READ)
        index = open_index(place, notebook.environment)
        index.update(memory, (lambda done, of: progress(place, done, of)) if progress else None)
        self._uses = count_uses(notebook.environment, memory)
        self._search = Search(index, memory, notebook.environment)

    def find(self, typed: str, most: int) -> SearchResults:
        values = self._judged if needs_findings(typed) else ConditionValues(uses=self._uses)
        return self._search.find(typed, values, most)

    def list_near_words(self, typed: str) -> list[str]:
        return self._search.list_near_words(typed)

    @cached_property
    def _judged(self) -> ConditionValues:
        self.snapshot = self._notebook.judge_with_evidence(self.snapshot.memory)
        return collect_values(self.snapshot, self._uses)


def _rank_hit(hit: Hit, results: SearchResults) -> tuple[int, float, int]:
    """Return the sort key of a hit among those of other memories, or of other alternatives."""
    if hit.by_meaning:
        return 3, -hit.result.score, 0
    if hit.by_name:
        return 2 * hit.is_unsure, -hit.result.score, len(hit.result.note.name)
    return 1, -hit.result.score * results.best, 0
