"""Ranking the notes of a memory for a question: words, cues, neighbours, one score.

Scores are added, never ranks: fusing ranks throws away how much better the first is (reciprocal
rank fusion lost nine points of recall at five against BM25 alone, by the design's figures).
"""

from __future__ import annotations

from datetime import date
from itertools import islice
from math import exp

from ricordo.search.lexical import Lexicon, TermHits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ricordo.search.question import RecallQuestion
    from ricordo.search.reader import IndexedNote, Reader

IN_WINDOW = 1.0
"""What a note of the asked time gains, as a share of its score."""
TELLS_TIME = 0.2
TELLS_NUMBER = 0.2
"""What a note that names a time gains where *when* is asked, or a number where *how many* is."""
IS_SUBJECT = 0.3
"""What a note gains whose name the question says."""
IS_RECENT = 0.3
HALF_LIFE = 90.0
"""What a note of today gains where the current state is asked for, and in how many days that falls
to 1/e. (All of these are the design's.)
"""

BEFORE = 0.5
AFTER = 0.3
BEYOND = 0.2
"""What a note takes of the score of the note before it in a numbered series, of the one after it
(the better of the two), and of the next but one. The design had .3 for both sides; an answer
follows its question more often than it goes before it (tuned on two conversations of LoCoMo).
"""
TOGETHER = 0.4
"""What a note takes of the score that it and its two neighbours have as one text, for a question
whose words stand in several turns (tuned on the same two).
"""
REACH = 2
"""Places in a series that a note's score reaches, as `BEYOND` says."""


class Breadth:
    """How much is looked at for one answer."""

    __slots__ = ("notes", "occurrences", "terms")

    def __init__(self, terms: int, occurrences: int, notes: int) -> None:
        self.terms = terms
        """Words of the question that are weighed, the rarest."""
        self.occurrences = occurrences
        """How often the words by which notes are fetched may occur in the memory."""
        self.notes = notes
        """Notes that are weighed."""


WIDE = Breadth(terms=24, occurrences=20_000, notes=200)
"""Where nobody waits at a key. On LoCoMo neither twice as many notes nor the breadth of `FAST`
gives another R@1 or R@5: it is for larger memories.
"""
FAST = Breadth(terms=12, occurrences=3_000, notes=60)
"""For a search at every key."""
SIFTED = Breadth(terms=12, occurrences=1 << 62, notes=60)
"""For the same under conditions: what fits them may have none but common words."""
NARROW = Breadth(terms=12, occurrences=1_500, notes=32)
"""For the hook, which has a hundredth of a second; the benchmark tells what recall that costs."""


class Candidate:
    """A note that may answer, and why."""

    __slots__ = ("cues", "evidence", "score")

    def __init__(self, evidence: TermHits) -> None:
        self.evidence = evidence
        self.score = 0.0
        self.cues: list[str] = []
        """What besides its words speaks for it, as a person would say it."""

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
    reader: Reader,
    question: RecallQuestion,
    today: date,
    breadth: Breadth = WIDE,
    fits: Callable[[bytes], bool] | None = None,
) -> Ranking:
    """Return the notes of the index that have words of the `question`, or stand beside such notes
    in a series, best first; of those with words only such with a path that `fits`. Raises
    sqlite3.Error.
    """
    lexicon = Lexicon(question, reader, breadth.terms)
    if not lexicon.terms:
        return Ranking(question, lexicon, [])
    candidates = _fetched(reader, lexicon, breadth, fits)
    series = _Series(candidates)
    for candidate in candidates:
        _weigh(candidate, series, lexicon, question, today)
    for candidate, score in series.spread():
        candidate.score = score
        # last, so that a neighbour of another subject lends no more than its words
        if _is_subject(candidate.row, question):
            candidate.score *= 1 + IS_SUBJECT
            candidate.cues.append("its name is asked for")
    candidates.sort(key=lambda it: (-it.score, it.row.path))
    return Ranking(question, lexicon, [it for it in candidates if it.score > 0])


def _fetched(
    reader: Reader, lexicon: Lexicon, breadth: Breadth, fits: Callable[[bytes], bool] | None
) -> list[Candidate]:
    """The notes that FTS5 finds, and those that stand beside them in a series."""
    match = lexicon.expression(breadth.occurrences)
    if fits is None:
        is_common = lexicon.is_common(breadth.occurrences)
        matching = reader.newest_matching if is_common else reader.matching
        ids = set(matching(match, breadth.notes))
    else:
        # judged before the cut: the few that fit may stand behind many that do not
        fitting = (number for number, path in reader.all_matching(match) if fits(path))
        ids = set(islice(fitting, breadth.notes))
    found = [Candidate(TermHits(row, lexicon)) for row in reader.rows(ids)]
    beside = reader.around((it.row for it in found), REACH) - ids
    rows = reader.rows(beside) if beside else ()
    return found + [Candidate(TermHits(row, lexicon)) for row in rows]


def _weigh(
    candidate: Candidate, series: _Series, lexicon: Lexicon, question: RecallQuestion, today: date
) -> None:
    score = lexicon.score(candidate.evidence)
    beside = series.around(candidate)
    if beside:
        score += TOGETHER * _together(candidate, beside, lexicon)
    candidate.score = score * _cues(candidate, question, today)


def _together(candidate: Candidate, beside: list[Candidate], lexicon: Lexicon) -> float:
    frequency: dict[int, float] = {}
    length = 0.0
    for it in (candidate, *beside):
        length += it.evidence.length
        for term, count in it.evidence.frequency.items():
            frequency[term] = frequency.get(term, 0) + count
    return lexicon.weigh(frequency, length, 3)


def _cues(candidate: Candidate, question: RecallQuestion, today: date) -> float:
    row, factor = candidate.row, 1.0
    if question.window and question.window.holds(row.day):
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
    """Whether the question says at least half of the words of the note's name."""
    said = sum(1 for word in row.name if word in question.words)
    return bool(said) and 2 * said >= len(row.name)


class _Series:
    """The candidates that are numbered, by their place."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self.all = list(candidates)
        self.by_place = {(it.row.series, it.row.place): it for it in self.all if it.row.series}

    def at(self, candidate: Candidate, step: int) -> Candidate | None:
        row = candidate.row
        return self.by_place.get((row.series, row.place + step)) if row.series else None

    def around(self, candidate: Candidate) -> list[Candidate]:
        return [it for step in (-1, 1) if (it := self.at(candidate, step))]

    def spread(self) -> list[tuple[Candidate, float]]:
        """Return every candidate with its score and what its neighbours lend it."""

        def of(candidate: Candidate, step: int) -> float:
            other = self.at(candidate, step)
            return other.score if other else 0.0

        return [
            (
                it,
                it.score
                + max(BEFORE * of(it, -1), AFTER * of(it, 1))
                + BEYOND * max(of(it, -2), of(it, 2)),
            )
            for it in self.all
        ]
