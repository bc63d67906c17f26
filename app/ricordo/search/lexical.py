"""Lexical score of a note for a question: fielded BM25 over notes, chunks, forms and pairs.

BM25 as in S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond
(2009), section 3; fields are weighted before saturation, as BM25F does (section 3.5).
"""

from __future__ import annotations

from math import log

from ricordo.search.words import is_unspaced, stem_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ricordo.search.question import RecallQuestion
    from ricordo.search.reader import IndexedNote, IndexReader, Totals

MOST_ASKED = 12
"""Words of a long message that count as asked for, the rarest: it also contains statements. Of the
756 questions of LoCoMo's conversations two have more content words.
"""
K1 = 0.8
B = 0.4
"""Saturation and length normalisation; both lower than in the textbook, because notes are short and
a long one seldom repeats itself (tuned on LoCoMo).
"""
CHUNK = 80
"""Words of a chunk: a long note is as good as its best passage."""

NAME, SUMMARY, KEYWORD = 3.0, 2.0, 2.0
"""The weight of a word in the name, the description or the keywords; 1 in the body."""

CHUNKS = 0.5
"""The weight of the best chunk, added to the whole note. Without it the first session is right
less often (by 1 to 2 points), with twice the weight hardly more often.
"""
UNSTEMMED = 0.4
PAIRS = 0.2
BEGINNINGS = 0.3
"""The weights of words with the same form, words in the same order, and words with the same
beginning.
"""
COMMON = 0.25
"""The share of notes above which a word is too common: its idf is 1.4 at most, a sixth of that of a
word in one note among 10,000. Chosen for speed; no answer to LoCoMo depends on it.
"""
SHORTEST_BEGINNING = 4
"""Letters; a shorter word is not matched as a beginning, or in a search as a part, of others."""
SHORTEST_STEM, LONGEST_ENDING = 5, 3
"""Letters of the beginning that words of other languages than English share, and of their endings.
"""
SHORTEST_COMPOUND = 9
"""Letters."""
JOINTS = ("", "s", "es", "n", "en", "e")
"""What joins the parts of compounds in German and its relatives."""
_EVERYDAY_PAIRS = """
    什么 怎么 么样 为什 这个 那个 我们 你们 他们 可以 一下 哪些 哪个 多少 如何 是否 现在 已经
    这样 那样 今天 早上 上好 你好 谢谢 请问 请帮 帮我 一个 就是 不是 没有 还是 还有 但是 因为
    所以 应该 需要 진행 안녕 녕하 하세 세요 어요 어떻 떻게 습니 니다 니까 나요 까요 해요 에서
    으로 하는 하고 있어 있는 있나 있다 이고 인가 가요 까지 부터 에게 무엇 뭐야 때문 어디 어느
    언제 오늘 고마 마워 워요 주세 해줘 려줘 알려 있지 는데 하나 도록 려면 했지 였지 인데 였던
    싶어 할까 될까 되나 이야 이가 今日 何か 教え 下さ 願い
"""
EVERYDAY_PAIRS = frozenset(_EVERYDAY_PAIRS.split())
UNKNOWN_PAIR = 0.25
"""The weight of a pair of characters that no note contains: most of such pairs are no words."""
SHORTEST_TYPED = 2
"""The same for the word being typed: a single letter matches names only."""


NONE_EVERYDAY: Mapping[str, float] = {}
RAREST = 0.0005
"""The share of messages with a word that is no everyday one any more."""


class Term:
    """One word of the question, with its forms in notes."""

    __slots__ = (
        "beginnings",
        "forms",
        "goes_on",
        "idf",
        "idf_begun",
        "idf_written",
        "interest",
        "stem",
        "word",
    )

    def __init__(
        self, word: str, stem: str, reader: IndexReader, totals: Totals, question: RecallQuestion
    ) -> None:
        self.word = word
        self.stem = stem
        self.interest = 1.0
        """How much it says about the topic, 0 to 1: everyday words say little."""
        self.goes_on = word == question.typed
        """Whether it is still being typed."""
        self.forms = dict(reader.find_family(stem))
        """The words with the same stem, each with its number of notes."""
        self.beginnings = dict(self._find_longer(reader, question))
        """The words that begin with it, or contain it if there are none, with their numbers."""
        self.idf = idf(sum(self.forms.values()), totals.notes)
        self.idf_written = idf(self.forms.get(word, 0), totals.notes)
        self.idf_begun = idf(sum(self.beginnings.values()), totals.notes)

    def _find_longer(self, reader: IndexReader, question: RecallQuestion) -> list[tuple[str, int]]:
        word = self.word
        if question.is_search and len(word) == 1 and is_unspaced(word):
            # words of unspaced scripts are pairs of characters: it is in either place
            return reader.find_containing(word)
        shortest = SHORTEST_TYPED if self.goes_on else SHORTEST_BEGINNING
        longer = reader.find_beginning_with(word) if len(word) >= shortest else []
        if longer or self.forms or len(word) < SHORTEST_BEGINNING:
            return longer
        if question.is_search:
            # parts of compounds: "Speicher" in "Zwischenspeicher"
            return reader.find_containing(word)
        if question.language == "en" and word.isascii():
            return []
        # endings of other languages: "Ehepaaren" for "Ehepaare"
        cut = max(SHORTEST_STEM, len(word) - LONGEST_ENDING)
        return reader.find_beginning_with(word[:cut]) if cut < len(word) else []

    @property
    def is_known(self) -> bool:
        """Whether any note contains it."""
        return bool(self.forms or self.beginnings)

    @property
    def notes(self) -> int:
        """The maximum number of notes with it."""
        return sum(self.forms.values())

    def list_fetch_words(self, most: int) -> set[str]:
        """Return the words for fetching notes: its forms, and the most common longer words that
        occur at most `most` times in total; no longer words if it is known and complete.
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
    """Return the inverse document frequency of a word in `notes` of all `of` notes (Robertson and
    Sparck Jones, never negative).
    """
    notes = min(notes, of)
    return log(1 + (of - notes + 0.5) / (notes + 0.5))


def saturate(frequency: float, length: float, average: float) -> float:
    """Return BM25's saturated term frequency for a text of that `length`, in words."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / (average or 1)))


def split_compound(word: str, reader: IndexReader) -> tuple[str, str] | None:
    """Return two words of the notes of which `word` is a compound: "Behinderung" and "Grad" of
    "Behinderungsgrad"; None if it is none.
    """
    for at in range(len(word) - SHORTEST_BEGINNING, SHORTEST_BEGINNING - 1, -1):
        first, second = word[:at], word[at:]
        if reader.find_beginning_with(second):
            for joint in JOINTS:
                stem = first.removesuffix(joint)
                if len(stem) >= SHORTEST_BEGINNING and reader.find_family(stem):
                    return stem, second
    return None


def weigh_pair(pair: str) -> float:
    """Return how much a pair of characters of an unspaced script says about the topic: hiragana
    are mostly endings, and some pairs are in every message.
    """
    if pair in EVERYDAY_PAIRS:
        return 0.1
    kana = sum("\u3040" <= character <= "\u309f" for character in pair)
    return (1.0, 0.4, 0.15)[kana]


class TermHits:
    """The occurrences of the question's words in one note."""

    __slots__ = (
        "begun",
        "chunks",
        "frequency",
        "length",
        "named",
        "pairs",
        "row",
        "stated",
        "written",
    )

    def __init__(self, row: IndexedNote, lexicon: Lexicon) -> None:
        self.row = row
        self.frequency: dict[int, float] = {}
        self.written: dict[int, float] = {}
        self.begun: dict[int, float] = {}
        self.pairs: dict[tuple[int, int], int] = {}
        self.chunks: dict[int, dict[int, int]] = {}
        self.stated: set[int] = set()
        """The terms in name, description and keywords."""
        self.named = {max(term, begun) for _, (term, _, begun) in lexicon.find_in(row.name)}
        """The terms in the name."""
        body = row.body
        self.length = len(body) + NAME * len(row.name) + SUMMARY * len(row.description)
        for text, weight in (
            (row.name, NAME),
            (row.description, SUMMARY),
            (row.keywords, KEYWORD),
        ):
            stated = lexicon.find_in(text)
            self._count(stated, weight, lexicon)
            self.stated.update(max(term, begun) for _, (term, _, begun) in stated)
        hits = lexicon.find_in(body)
        self._count(hits, 1.0, lexicon)
        if len(body) > CHUNK:
            self._count_by_chunk(hits)

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

    def _count_by_chunk(self, hits: list[tuple[int, Meaning]]) -> None:
        for at, (term, _, _) in hits:
            if term >= 0:
                chunk = self.chunks.setdefault(at // CHUNK, {})
                chunk[term] = chunk.get(term, 0) + 1


Meaning = tuple[int, bool, int]
"""For a word of a note: the number of the term with the same stem, whether the form is the same
too, and the number of the term that it begins with; -1 for none.
"""


class Lexicon:
    """The words of a question, with their frequencies in one memory."""

    def __init__(
        self,
        question: RecallQuestion,
        reader: IndexReader,
        most: int,
        everyday: Mapping[str, float] = NONE_EVERYDAY,
    ) -> None:
        """Look up the words; only the `most` rarest ones that any note contains are scored.
        `everyday` are the stems that are common in messages, with their shares.
        """
        self.totals = reader.read_totals()
        stems = dict(zip(reversed(question.stems), reversed(question.words), strict=True))
        terms = [
            term
            for stem, word in stems.items()
            for term in self._make_terms(word, stem, reader, question)
        ]
        for term in terms:
            if share := everyday.get(term.stem):
                term.interest *= log(share) / log(RAREST)
        weights = sorted((term.idf * term.interest for term in terms), reverse=True)
        self._interest = sum(weights[:MOST_ASKED])
        self._asked = sorted((term.idf for term in terms), reverse=True)
        known = sorted((term for term in terms if term.is_known), key=lambda term: -term.idf)
        self.unknown = tuple(term.word for term in terms if not term.is_known)
        """Words of the question that no note contains."""
        self.terms = known[:most]
        numbers = {term.stem: n for n, term in enumerate(self.terms)}
        self.pairs = {
            (numbers[one], numbers[other])
            for one, other in question.pairs
            if one in numbers and other in numbers and one != other
        }
        self._meanings = self._map_words()

    def _make_terms(
        self, word: str, stem: str, reader: IndexReader, question: RecallQuestion
    ) -> Iterator[Term]:
        """Yield the term for a word of the question; for an unknown compound those of its parts."""
        term = Term(word, stem, reader, self.totals, question)
        if is_unspaced(word):
            term.interest = weigh_pair(word) * (1.0 if term.is_known else UNKNOWN_PAIR)
        elif question.language != "en" and not term.is_known and len(word) >= SHORTEST_COMPOUND:
            parts = split_compound(word, reader)
            if parts:
                yield from (Term(it, stem_word(it), reader, self.totals, question) for it in parts)
                return
        yield term

    def _map_words(self) -> dict[str, Meaning]:
        meanings: dict[str, Meaning] = {}
        for number, term in enumerate(self.terms):
            for form in term.forms:
                meanings[form] = (number, form == term.word, -1)
        for number, term in enumerate(self.terms):
            for form in term.beginnings:
                before = meanings.get(form, (-1, False, -1))
                meanings[form] = (before[0], before[1], number)
        return meanings

    def find_in(self, words: Sequence[str]) -> list[tuple[int, Meaning]]:
        """Return the positions of the question's words in `words`, with their meanings."""
        meanings = self._meanings
        return [(at, meanings[word]) for at, word in enumerate(words) if word in meanings]

    def build_expression(self, most: int) -> str:
        """Return the FTS5 expression for notes with any of these words. Common words, which cost
        time and distinguish little, are omitted once rarer ones give `most` occurrences.
        """
        forms: set[str] = set()
        occurrences = 0
        for term in self.terms:
            if forms and occurrences + term.notes > most:
                break
            occurrences += term.notes
            forms |= term.list_fetch_words(most)
        return " OR ".join(f'"{form}"' for form in sorted(forms))

    def is_common(self, most: int) -> bool:
        """Return whether even the rarest of these words is in so many notes, above `most`, that it
        hardly distinguishes them.
        """
        rarest = self.terms[0]
        notes = max((rarest.forms or rarest.beginnings).values())
        return notes > max(most, COMMON * self.totals.notes)

    def score(self, found: TermHits) -> float:
        """Return the lexical score of a note."""
        terms, average = self.terms, self.totals.words / (self.totals.notes or 1)
        length = found.length
        total = self.score_bm25(found.frequency, length)
        chunk_scores = (self._score_chunk(chunk) for chunk in found.chunks.values())
        total += CHUNKS * max(chunk_scores, default=0.0)
        for term, frequency in found.written.items():
            total += UNSTEMMED * terms[term].idf_written * saturate(frequency, length, average)
        for term, frequency in found.begun.items():
            total += BEGINNINGS * terms[term].idf_begun * saturate(frequency, length, average)
        for (one, other), count in found.pairs.items():
            both = terms[one].idf + terms[other].idf
            total += PAIRS * both * saturate(count, length, average)
        return total

    def score_bm25(self, frequency: dict[int, float], length: float, texts: int = 1) -> float:
        """Return the BM25 score of term frequencies in a text joined from so many notes."""
        average = texts * self.totals.words / (self.totals.notes or 1)
        return sum(
            self.terms[term].idf * saturate(count, length, average)
            for term, count in frequency.items()
        )

    def _score_chunk(self, frequency: dict[int, int]) -> float:
        average = self.totals.words / (self.totals.chunks or 1)
        return sum(
            self.terms[term].idf * saturate(count, CHUNK, average)
            for term, count in frequency.items()
        )

    def sum_asked(self) -> float:
        """Return the total idf of the question's rarest words, known or not."""
        return sum(self._asked[:MOST_ASKED])

    def cover(self, hits: TermHits) -> tuple[float, float, float]:
        """Return how much of the question a note covers: the share of its words in the note's name,
        description and keywords, 0 to 1; and the weight of the words in its name and in all of the
        note, where a word that only one note has weighs 1.
        """
        weights = [term.idf * term.interest for term in self.terms]
        rarest = idf(1, self.totals.notes) or 1.0
        stated, named = (sum(weights[term] for term in of) for of in (hits.stated, hits.named))
        covered = sum(weights[number] for number in hits.frequency.keys() | hits.begun.keys())
        return min(1.0, stated / (self._interest or 1.0)), named / rarest, covered / rarest
