"""How far the words of a note answer those of a question: fielded BM25 at four grains.

BM25 as in S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond
(2009), section 3; fields are weighted before saturation, as BM25F does (section 3.5).
"""

from __future__ import annotations

from math import log

from ricordo.search.words import is_unspaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ricordo.search.question import RecallQuestion
    from ricordo.search.reader import IndexedNote, Reader, Totals

K1 = 0.8
B = 0.4
"""Saturation and length normalisation; both lower than in the textbook, for notes are short and a
long one seldom repeats itself (from the design's search over LoCoMo).
"""
CHUNK = 80
"""Words of a chunk: a long note is as good as its best passage."""

NAME, SUMMARY, KEYWORD = 3.0, 2.0, 2.0
"""What a word in the name, the description or the keywords counts, one in the body counting 1 (the
design's).
"""

CHUNKS = 0.5
"""What the best chunk adds to the whole note. The design has both and no weight; without it
the first session is right less often (by 1 to 2 points), with twice as much hardly more often.
"""
UNSTEMMED = 0.4
PAIRS = 0.2
BEGINNINGS = 0.3
"""What words as they are written, words in the same order, and words that only begin alike add
(the weights of the design).
"""
COMMON = 0.25
"""Which share of all notes has a word that says next to nothing: its idf is 1.4 at most, a sixth of
that of a word of one note among 10,000. Chosen for speed, no answer to LoCoMo depends on it.
"""
SHORTEST_BEGINNING = 4
"""Letters of a word that others may begin with, or, in a search, hold: three begin too many."""
SHORTEST_TYPED = 2
"""The same for the word that is still being typed: with one letter names alone are found."""


class Term:
    """One word of the question, and all that counts as this word in a note."""

    __slots__ = (
        "beginnings",
        "forms",
        "goes_on",
        "idf",
        "idf_begun",
        "idf_written",
        "stem",
        "word",
    )

    def __init__(
        self, word: str, stem: str, reader: Reader, totals: Totals, question: RecallQuestion
    ) -> None:
        self.word = word
        self.stem = stem
        self.goes_on = word == question.typed
        """Whether it is still being typed."""
        self.forms = dict(reader.family(stem))
        """The words of the same stem, and in how many notes each stands."""
        self.beginnings = dict(self._longer(reader, question))
        """Words that begin with it, or only hold it where nothing else is to be found, likewise."""
        self.idf = idf(sum(self.forms.values()), totals.notes)
        self.idf_written = idf(self.forms.get(word, 0), totals.notes)
        self.idf_begun = idf(sum(self.beginnings.values()), totals.notes)

    def _longer(self, reader: Reader, question: RecallQuestion) -> list[tuple[str, int]]:
        word = self.word
        if question.is_search and len(word) == 1 and is_unspaced(word):
            # it stands in pairs, before another character or after it
            return reader.holding(word)
        shortest = SHORTEST_TYPED if self.goes_on else SHORTEST_BEGINNING
        found = reader.beginning_with(word) if len(word) >= shortest else []
        if found or self.forms or not question.is_search or len(word) < SHORTEST_BEGINNING:
            return found
        # as in a compound: "Speicher" in "Zwischenspeicher"
        return reader.holding(word)

    @property
    def known(self) -> bool:
        """Whether any note has it."""
        return bool(self.forms or self.beginnings)

    @property
    def notes(self) -> int:
        """In how many notes it stands, at most."""
        return sum(self.forms.values())

    def fetched(self, most: int) -> set[str]:
        """Return the words by which notes are fetched. Of those that only begin so these are the
        commonest that occur at most `most` times together; none where it has ended and is known.
        """
        fetched = set(self.forms)
        if fetched and not self.goes_on:
            return fetched
        room = most
        for word, notes in self.beginnings.items():
            if notes <= room or not fetched:
                fetched.add(word)
                room -= notes
        return fetched


def idf(notes: int, of: int) -> float:
    """Return the weight of a word that stands in so many notes `of` all (Robertson and Sparck
    Jones, never negative).
    """
    notes = min(notes, of)
    return log(1 + (of - notes + 0.5) / (notes + 0.5))


def saturated(frequency: float, length: float, average: float) -> float:
    """Return BM25's term frequency: what `frequency` is worth in a text of that `length`."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / (average or 1)))


class TermHits:
    """What one note has of the question's words."""

    __slots__ = ("begun", "chunks", "frequency", "length", "pairs", "row", "written")

    def __init__(self, row: IndexedNote, lexicon: Lexicon) -> None:
        self.row = row
        self.frequency: dict[int, float] = {}
        self.written: dict[int, float] = {}
        self.begun: dict[int, float] = {}
        self.pairs: dict[tuple[int, int], int] = {}
        self.chunks: dict[int, dict[int, int]] = {}
        body = row.body
        self.length = len(body) + NAME * len(row.name) + SUMMARY * len(row.description)
        for found, weight in (
            (row.name, NAME),
            (row.description, SUMMARY),
            (row.keywords, KEYWORD),
        ):
            self._count(lexicon.found_in(found), weight, lexicon)
        hits = lexicon.found_in(body)
        self._count(hits, 1.0, lexicon)
        if len(body) > CHUNK:
            self._cut(hits)

    def _count(self, hits: list[tuple[int, Meaning]], weight: float, lexicon: Lexicon) -> None:
        before, last = -9, -1
        for at, (term, written, begun) in hits:
            if term >= 0:
                self.frequency[term] = self.frequency.get(term, 0) + weight
                if written:
                    self.written[term] = self.written.get(term, 0) + weight
                if at - before <= 2 and (last, term) in lexicon.pairs:
                    self.pairs[last, term] = self.pairs.get((last, term), 0) + 1
                before, last = at, term
            if begun >= 0:
                self.begun[begun] = self.begun.get(begun, 0) + weight

    def _cut(self, hits: list[tuple[int, Meaning]]) -> None:
        for at, (term, _, _) in hits:
            if term >= 0:
                chunk = self.chunks.setdefault(at // CHUNK, {})
                chunk[term] = chunk.get(term, 0) + 1


Meaning = tuple[int, bool, int]
"""For a word of a note: the term whose stem it has, whether it is that very word, and the term
with which it begins; -1 for none.
"""


class Lexicon:
    """The words of a question as one memory knows them."""

    def __init__(self, question: RecallQuestion, reader: Reader, most: int) -> None:
        """Of the question's words at most the `most` rarest that any note has are weighed."""
        self.totals = reader.totals()
        stems = dict(zip(reversed(question.stems), reversed(question.words), strict=True))
        terms = [Term(word, stem, reader, self.totals, question) for stem, word in stems.items()]
        self._asked = sorted((term.idf for term in terms), reverse=True)
        known = sorted((term for term in terms if term.known), key=lambda term: -term.idf)
        self.unknown = tuple(term.word for term in terms if not term.known)
        """Words of the question that no note has."""
        self.terms = known[:most]
        numbers = {term.stem: n for n, term in enumerate(self.terms)}
        self.pairs = {
            (numbers[one], numbers[other])
            for one, other in question.pairs
            if one in numbers and other in numbers and one != other
        }
        self._meanings = self._read()

    def _read(self) -> dict[str, Meaning]:
        meanings: dict[str, Meaning] = {}
        for number, term in enumerate(self.terms):
            for form in term.forms:
                meanings[form] = (number, form == term.word, -1)
        for number, term in enumerate(self.terms):
            for form in term.beginnings:
                before = meanings.get(form, (-1, False, -1))
                meanings[form] = (before[0], before[1], number)
        return meanings

    def found_in(self, words: Sequence[str]) -> list[tuple[int, Meaning]]:
        """Return where words of the question stand among `words`, and which they are."""
        meanings = self._meanings
        return [(at, meanings[word]) for at, word in enumerate(words) if word in meanings]

    def expression(self, most: int) -> str:
        """Return the FTS5 expression for notes with any of these words. Common words, which bring
        much work and few notes, are left out once rarer ones bring `most` occurrences.
        """
        forms: set[str] = set()
        occurrences = 0
        for term in self.terms:
            if forms and occurrences + term.notes > most:
                break
            occurrences += term.notes
            forms |= term.fetched(most)
        return " OR ".join(f'"{form}"' for form in sorted(forms))

    def is_common(self, most: int) -> bool:
        """Say whether even the rarest of these words stands in so many notes, beyond `most`, that
        it hardly tells one from another.
        """
        rarest = self.terms[0]
        notes = max((rarest.forms or rarest.beginnings).values())
        return notes > max(most, COMMON * self.totals.notes)

    def score(self, found: TermHits) -> float:
        """Return the score of a note by its words alone."""
        terms, average = self.terms, self.totals.words / (self.totals.notes or 1)
        length = found.length
        total = self.weigh(found.frequency, length)
        total += CHUNKS * max((self._chunk(chunk) for chunk in found.chunks.values()), default=0.0)
        for term, frequency in found.written.items():
            total += UNSTEMMED * terms[term].idf_written * saturated(frequency, length, average)
        for term, frequency in found.begun.items():
            total += BEGINNINGS * terms[term].idf_begun * saturated(frequency, length, average)
        for (one, other), count in found.pairs.items():
            both = terms[one].idf + terms[other].idf
            total += PAIRS * both * saturated(count, length, average)
        return total

    def weigh(self, frequency: dict[int, float], length: float, texts: int = 1) -> float:
        """Return the BM25 of term frequencies in a text that is made of so many notes."""
        average = texts * self.totals.words / (self.totals.notes or 1)
        return sum(
            self.terms[term].idf * saturated(count, length, average)
            for term, count in frequency.items()
        )

    def _chunk(self, frequency: dict[int, int]) -> float:
        average = self.totals.words / (self.totals.chunks or 1)
        return sum(
            self.terms[term].idf * saturated(count, CHUNK, average)
            for term, count in frequency.items()
        )

    def weight_asked(self, most: int) -> float:
        """Return what the `most` rarest words of the question weigh, known here or not."""
        return sum(self._asked[:most])

    def coverage(self, frequencies: Iterable[dict[int, float]]) -> float:
        """Return which share of what is asked for, by idf, the notes with these term frequencies
        have together, 0 to 1.
        """
        covered = {term for frequency in frequencies for term in frequency}
        asked = sum(self._asked)
        return sum(self.terms[term].idf for term in covered) / asked if asked else 0.0
