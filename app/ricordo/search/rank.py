"""Ranking the notes of a memory for a question: words, cues, neighbours, one score.

Scores are added, never ranks: rank fusion loses how much better the first note is (reciprocal rank
fusion lost nine points of recall at five against BM25 alone).
"""

from __future__ import annotations

from contextlib import closing
from datetime import date
from itertools import islice
from math import exp

from ricordo.search.lexical import Lexicon, TermHits
from ricordo.search.meaning import GIST, NO_MEANING, TokenTable, find_nearest, make_sketch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ricordo.search.meaning import Vector
    from ricordo.search.question import RecallQuestion
    from ricordo.search.reader import IndexedNote, IndexReader

    Meaning = Callable[[str, Sequence[bytes]], Sequence[float]]
    """A better measure of similarity in meaning than that of the table: takes the message and the
    paths of notes, and returns a number for each, -1 to 1.
    """

IN_WINDOW = 1.0
"""The boost of a note of the asked time, as a share of its score."""
TELLS_TIME = 0.2
TELLS_NUMBER = 0.2
"""The boost of a note with a time for the question *when*, or with a number for *how many*."""
IS_SUBJECT = 0.3
"""The boost of a note whose name is in the question."""
IS_RECENT = 0.3
HALF_LIFE = 90.0
"""The boost of a note of today for a question about the current state, and the number of days in
which it decays to 1/e.
"""

BEFORE = 0.5
AFTER = 0.3
BEYOND = 0.2
"""The share of the score that a note gets from the note before it in a numbered series, from the
one after it (the higher of the two), and from the next but one. An answer more often follows its
question than precedes it (tuned on two conversations of LoCoMo).
"""
JOINT = 0.4
"""The share of the joint score of a note and its two neighbours that the note gets, for questions
whose words are in several messages (tuned on the same two).
"""
REACH = 2
"""Places in a series over which scores spread, see `BEYOND`."""


LEAST_WORDS = 2
"""A message with fewer content words has no meaning to compare, and gets no notes."""
MEANING, MEANING_ALONE, DESCRIBED = 2.0, 1.0, 4.0
"""The weight of the similarity in meaning, what is added where no note has the words, both as
factors of the weight of the question; and the factor for notes with a description, which says what
they are about.
"""
NEAREST = 0.3
"""The weight of the nearest tokens, beside the similarity of the whole texts."""
COMPARED = 60
"""Notes whose tokens are compared, and whose meaning is measured by a better measure, if there is
one.
"""
MOST_COMPARED = 32
"""Words of a question, the first, whose tokens are compared."""
NEAR = 100
"""Notes whose sketches are nearest to that of a question, and whose vectors are compared."""
UNRELATED = 0.1
"""The similarity of notes that have nothing to do with each other."""


class Breadth:
    """The limits on the work for one answer."""

    __slots__ = ("compares_tokens", "notes", "occurrences", "similar", "terms")

    def __init__(
        self,
        terms: int,
        occurrences: int,
        notes: int,
        similar: int = 0,
        compares_tokens: bool = False,
    ) -> None:
        self.terms = terms
        """Words of the question that are scored, the rarest."""
        self.occurrences = occurrences
        """Occurrences in the memory of the words by which notes are fetched."""
        self.notes = notes
        """Notes with these words that are scored."""
        self.similar = similar
        """Notes that are scored for their meaning only."""
        self.compares_tokens = compares_tokens
        """Whether the tokens of the best notes are compared with those of the question."""


WIDE = Breadth(terms=24, occurrences=20_000, notes=200, similar=24, compares_tokens=True)
"""For commands. On LoCoMo neither twice as many notes nor the breadth of `FAST` changes R@1 or R@5:
it is for larger memories.
"""
FAST = Breadth(terms=12, occurrences=3_000, notes=60)
"""For a search at every key press."""
FILTERED = Breadth(terms=12, occurrences=1 << 62, notes=60)
"""The same with conditions: notes that meet them may have only common words."""
NARROW = Breadth(terms=12, occurrences=1_500, notes=32, similar=12)
"""For the hook, which has 10 ms; the benchmark measures the loss in recall."""


class Candidate:
    """A note that may answer the question, with its score and reasons."""

    __slots__ = ("boost", "cues", "evidence", "nearness", "of_words", "score", "similarity")

    def __init__(self, evidence: TermHits) -> None:
        self.evidence = evidence
        self.boost = 1.0
        """The factor by which cues raise the score."""
        self.of_words = 0.0
        """The score without meaning."""
        self.score = 0.0
        self.similarity = 0.0
        """Similarity in meaning to the question, -1 to 1."""
        self.nearness = 0.0
        """How much nearer its tokens are to those of the question than the farthest note's."""
        self.cues: list[str] = []
        """Reasons besides its words, as shown to the user."""

    @property
    def row(self) -> IndexedNote:
        """The note."""
        return self.evidence.row


class Ranking:
    """The notes that may answer a question, best first."""

    __slots__ = ("candidates", "lexicon", "question")

    def __init__(
        self, question: RecallQuestion, lexicon: Lexicon, candidates: list[Candidate]
    ) -> None:
        self.question = question
        self.lexicon = lexicon
        self.candidates = candidates


def rank(
    reader: IndexReader,
    question: RecallQuestion,
    today: date,
    breadth: Breadth = WIDE,
    fits: Callable[[bytes], bool] | None = None,
    meaning: Meaning | None = None,
) -> Ranking:
    """Return the notes of the index with words of the `question`, and their neighbours in a series,
    best first; of those with words only the ones with a path that `fits`. Raises sqlite3.Error.
    """
    with closing(TokenTable()) as table:
        everyday = table.read_everyday(question.stems)
        has_meaning = breadth.similar and len(question.words) >= LEAST_WORDS
        vector = table.embed(question.said) if has_meaning else NO_MEANING
    lexicon = Lexicon(question, reader, breadth.terms, everyday)
    similar = find_similar(reader, vector, breadth.similar)
    candidates = _fetch(reader, lexicon, breadth, fits, similar)
    if vector:
        vectors = reader.read_vectors(
            [note.row.id for note in candidates if note.row.id not in similar]
        )
        for candidate in candidates:
            number = candidate.row.id
            other = vectors.get(number, NO_MEANING)
            candidate.similarity = similar.get(number) or vector.similarity(other)
    series = _Series(candidates)
    for candidate in candidates:
        _score(candidate, series, lexicon, question, today)
    for candidate, score in series.spread():
        candidate.of_words = score
        # last, so that this boost does not spread to neighbours with another subject
        if _is_subject(candidate.row, question):
            candidate.of_words *= 1 + IS_SUBJECT
            candidate.cues.append("its name is asked for")
    candidates = _order(candidates, lexicon)
    best = candidates[:COMPARED]
    if vector and breadth.compares_tokens and best:
        _compare_tokens(best, question)
        candidates[:COMPARED] = best = _order(best, lexicon)
    if meaning and best:
        paths = [candidate.row.path for candidate in best]
        for candidate, value in zip(best, meaning(question.text, paths), strict=True):
            candidate.similarity = value
        candidates[:COMPARED] = _order(best, lexicon)
    return Ranking(question, lexicon, [note for note in candidates if note.score > 0])


def _fetch(
    reader: IndexReader,
    lexicon: Lexicon,
    breadth: Breadth,
    fits: Callable[[bytes], bool] | None,
    similar: Iterable[int],
) -> list[Candidate]:
    """Return the notes that FTS5 finds, the `similar` ones, and their neighbours in a series."""
    match = lexicon.build_expression(breadth.occurrences)
    if not match:
        ids = set()
    elif fits is None:
        is_common = lexicon.is_common(breadth.occurrences)
        matching = reader.find_newest_matching if is_common else reader.find_matching
        ids = set(matching(match, breadth.notes))
    else:
        # filter before the cut: the few that fit may come after many that do not
        fitting = (number for number, path in reader.iterate_matching(match) if fits(path))
        ids = set(islice(fitting, breadth.notes))
    ids.update(similar)
    matches = [Candidate(TermHits(row, lexicon)) for row in reader.read_rows(ids)]
    neighbours = reader.find_neighbours((candidate.row for candidate in matches), REACH) - ids
    rows = reader.read_rows(neighbours) if neighbours else ()
    return matches + [Candidate(TermHits(row, lexicon)) for row in rows]


def find_similar(reader: IndexReader, vector: Vector, most: int) -> dict[int, float]:
    """Return the ids of the `most` notes nearest in meaning to `vector`, with the similarity."""
    if not vector or not most:
        return {}
    places = find_nearest(make_sketch(vector), reader.read_sketches(), NEAR)
    similar = {
        number: vector.similarity(other) for number, other in reader.read_vectors(places).items()
    }
    return dict(sorted(similar.items(), key=lambda pair: -pair[1])[:most])


def find_similar_paths(
    reader: IndexReader, question: RecallQuestion, most: int
) -> list[tuple[bytes, float]]:
    """Return the paths of the `most` notes nearest in meaning to `question`, nearest first, each
    with its similarity.
    """
    with closing(TokenTable()) as table:
        vector = table.embed(question.said)
    similar = find_similar(reader, vector, most)
    rows = {row.id: row.path for row in reader.read_rows(similar)}
    return [(rows[number], value) for number, value in similar.items()]


def _compare_tokens(candidates: Iterable[Candidate], question: RecallQuestion) -> None:
    """Measure how near the tokens of the candidates are to those of the question. Only notes with a
    description: the beginning of another one may be about something else than the rest of it.
    """
    described = [candidate for candidate in candidates if candidate.row.description]
    texts = [
        {*candidate.row.name, *candidate.row.description[:GIST], *candidate.row.body[:GIST]}
        for candidate in described
    ]
    with closing(TokenTable()) as table:
        values = table.match(question.words[:MOST_COMPARED], texts)
    farthest = min(values, default=0.0)
    for candidate, value in zip(described, values, strict=True):
        candidate.nearness = value - farthest


def _order(candidates: Iterable[Candidate], lexicon: Lexicon) -> list[Candidate]:
    """Return the candidates by their scores: those of their words, and the similarity in meaning
    as a share of what a note with all words of the question has. It counts the more, the fewer of
    these the best note has.
    """
    candidates = list(candidates)
    asked = lexicon.sum_asked() or 1.0
    best = max((candidate.of_words for candidate in candidates), default=0.0)
    weight = asked * (MEANING + MEANING_ALONE * max(0.0, 1 - best / asked))
    for candidate in candidates:
        near = max(0.0, candidate.similarity - UNRELATED) / (1 - UNRELATED)
        if candidate.row.description:
            near = DESCRIBED * (near + NEAREST * candidate.nearness)
        candidate.score = candidate.of_words + weight * near * candidate.boost
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.row.path))


def _score(
    candidate: Candidate, series: _Series, lexicon: Lexicon, question: RecallQuestion, today: date
) -> None:
    score = lexicon.score(candidate.evidence)
    neighbours = series.around(candidate)
    if neighbours:
        score += JOINT * _score_together([candidate, *neighbours], lexicon)
    candidate.boost = _boost(candidate, question, today)
    candidate.of_words = score * candidate.boost


def _score_together(candidates: list[Candidate], lexicon: Lexicon) -> float:
    """Return the BM25 score of the candidates as one text."""
    frequency: dict[int, float] = {}
    length = 0.0
    for candidate in candidates:
        length += candidate.evidence.length
        for term, count in candidate.evidence.frequency.items():
            frequency[term] = frequency.get(term, 0) + count
    return lexicon.score_bm25(frequency, length, 3)


def _boost(candidate: Candidate, question: RecallQuestion, today: date) -> float:
    """Return the factor by which cues raise the score, and add the reasons to the candidate."""
    row, factor = candidate.row, 1.0
    if question.window and question.window.includes(row.day):
        factor *= 1 + IN_WINDOW
        candidate.cues.append("of the time that is asked for")
    if question.asks_when and row.tells & 1:
        factor *= 1 + TELLS_TIME
    if question.asks_how_many and row.tells & 2:
        factor *= 1 + TELLS_NUMBER
    if question.asks_now and (age := _age(row.day, today)) is not None:
        factor *= 1 + IS_RECENT * exp(-age / HALF_LIFE)
    return factor


def _age(day: str, today: date) -> int | None:
    try:
        return max(0, (today - date.fromisoformat(day[:10])).days)
    except ValueError:
        return None


def _is_subject(row: IndexedNote, question: RecallQuestion) -> bool:
    """Return whether the question contains at least half of the words of the note's name."""
    count = sum(1 for word in row.name if word in question.words)
    return bool(count) and 2 * count >= len(row.name)


class _Series:
    """The candidates, and the numbered ones by their place."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self.all = list(candidates)
        self.by_place = {
            (candidate.row.series, candidate.row.place): candidate
            for candidate in self.all
            if candidate.row.series
        }

    def at(self, candidate: Candidate, step: int) -> Candidate | None:
        row = candidate.row
        return self.by_place.get((row.series, row.place + step)) if row.series else None

    def around(self, candidate: Candidate) -> list[Candidate]:
        return [other for step in (-1, 1) if (other := self.at(candidate, step))]

    def spread(self) -> list[tuple[Candidate, float]]:
        """Return every candidate with its score including the shares of its neighbours."""

        def score_at(candidate: Candidate, step: int) -> float:
            other = self.at(candidate, step)
            return other.of_words if other else 0.0

        return [
            (
                note,
                note.of_words
                + max(BEFORE * score_at(note, -1), AFTER * score_at(note, 1))
                + BEYOND * max(score_at(note, -2), score_at(note, 2)),
            )
            for note in self.all
        ]
