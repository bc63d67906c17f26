"""Select the few notes that an agent or a user should read for a message; none if none is relevant.

Standard library only: the hook selects as `ricordo recall` does.
"""

from __future__ import annotations

from math import exp, log

from ricordo.search.rank import LEAST_WORDS, WIDE, Candidate, rank
from ricordo.search.words import find_shared_runs, is_unspaced, join_pairs, list_unspaced_runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from datetime import date

    from ricordo.search.question import RecallQuestion
    from ricordo.search.rank import Breadth, Meaning, Ranking
    from ricordo.search.reader import IndexReader

RESTART = 0.35
STEPS = 10
"""The probability with which the random walk restarts at a seed, and its number of steps (they
raised HotpotQA from .770 to .880).
"""


def group_neighbours(links: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """Return for every note those that it links to or that link to it."""
    by_note: dict[int, set[int]] = {}
    for source, target in links:
        by_note.setdefault(source, set()).add(target)
        by_note.setdefault(target, set()).add(source)
    return by_note


def pagerank(seeds: Mapping[int, float], links: Iterable[tuple[int, int]]) -> dict[int, float]:
    """Return the probability of each note in a random walk from the weighted `seeds`, in total 1:
    personalised PageRank (T. Haveliwala, Topic-Sensitive PageRank, 2002).
    """
    around = group_neighbours(links)
    total = sum(seeds.values())
    start = {note: weight / total for note, weight in seeds.items()} if total else {}
    mass = dict(start)
    for _ in range(STEPS):
        after = {note: RESTART * weight for note, weight in start.items()}
        for note, current in mass.items():
            reached = around.get(note)
            if not reached:
                after[note] = after.get(note, 0.0) + (1 - RESTART) * current
                continue
            share = (1 - RESTART) * current / len(reached)
            for other in reached:
                after[other] = after.get(other, 0.0) + share
        mass = after
    return mass


MAX_SELECTED = 5
"""Notes for one message, the same number as Claude Code's own selector."""
SEEDS = 20
LINKED = 0.7
"""How many of the best notes are seeds of the walk over links, and the share of the best score that
the most linked note gains. Links change the order: what is selected is relevant by itself.
"""
LEAST_SCORE = 0.1
"""What is added to the score as a share of the weight of the question, whose logarithm would be
infinite.
"""
MOST_IN_NAME = 2.0
"""Rare words in the name from which on more are no further evidence."""
SHORTEST, LONGEST = 300.0, 2000.0
"""Words of a note that count as its length, at least and at most."""
CONSIDERED = 8
"""Notes with the highest scores that may be selected."""
JUDGED = 2
"""The first of them, of which one has to be likely: among many notes, one is by chance."""
MOST_NAMED = 5
"""Words in a reason."""
MOST_LINKS_NAMED = 2
"""Notes in a reason."""


class Weights:
    """How much evidence tells about the likelihood that a note is relevant, for a logistic
    function. Fitted on prompts that need notes and prompts that need none, see `docs/recall.md`.
    """

    __slots__ = ("enough", "length", "meaning", "named", "score", "start", "stated", "words")

    def __init__(
        self,
        start: float,
        score: float,
        stated: float,
        named: float,
        words: float,
        enough: float,
        meaning: float,
        length: float,
    ) -> None:
        self.start = start
        """Without any evidence."""
        self.score = score
        """Of the logarithm of the score of its words, as a share of the weight of the question."""
        self.stated = stated
        """Of the share of the question's words in its name, description and keywords."""
        self.named = named
        """Of the number of rare words in its name."""
        self.words = words
        """Of the number of rare words, or of pairs of characters in unspaced scripts."""
        self.enough = enough
        """Rare words from which on more are no further evidence."""
        self.meaning = meaning
        """Of the similarity in meaning."""
        self.length = length
        """Of the logarithm of its length: a long note has words of any question by chance."""


SPACED = Weights(
    start=3.15,
    score=1.3,
    stated=2.1,
    named=1.17,
    words=0.91,
    enough=4.0,
    meaning=4.3,
    length=-1.06,
)
UNSPACED = Weights(
    start=-3.7, score=1.05, stated=2.7, named=0.0, words=2.2, enough=6.0, meaning=0.0, length=0.0
)
"""For questions in scripts without blanks, whose words are pairs of characters, and whose meaning
is not known.
"""


class Strictness:
    """How likely notes have to be relevant to be selected, 0 to 1."""

    __slots__ = ("best", "later", "share")

    def __init__(self, best: float, later: float, share: float) -> None:
        self.best = best
        """Of the best note; below it none is selected."""
        self.later = later
        """Of every other note."""
        self.share = share
        """Of every other note, as a share of that of the best."""


STRICT = Strictness(best=0.5, later=0.4, share=0.7)
"""For messages to agents: most of them need no note, and a wrong one costs more than a missing one.
"""
BROAD = Strictness(best=0.3, later=0.3, share=0.0)
"""For programs that look for the notes that a text is about."""
LENIENT = Strictness(best=0.0, later=0.0, share=0.0)
"""For users who ask for notes: a note that says it in other words is as unlikely as a wrong one."""


class Selected:
    """A note that is relevant to a message."""

    __slots__ = ("candidate", "likelihood", "score", "why")

    def __init__(self, candidate: Candidate, likelihood: float, why: list[str]) -> None:
        self.candidate = candidate
        self.score = candidate.score
        self.likelihood = likelihood
        """The likelihood that it is relevant, 0 to 1."""
        self.why = why
        """Reasons as shown to the user, the strongest first."""

    @property
    def path(self) -> bytes:
        """Relative to the memory, in the bytes of the file system."""
        return self.candidate.row.path


def select(
    reader: IndexReader,
    question: RecallQuestion,
    today: date,
    most: int = MAX_SELECTED,
    never: Collection[bytes] = frozenset(),
    breadth: Breadth = WIDE,
    meaning: Meaning | None = None,
    for_agents: bool = True,
    strictness: Strictness = STRICT,
) -> list[Selected]:
    """Return at most `most` notes that are relevant to the `question`, best first, without the
    paths `never`, logs and schemas, and, with `for_agents`, without notes withheld from agents.
    Raises sqlite3.Error.
    """
    if len(question.words) < LEAST_WORDS:
        return []
    ranking = rank(reader, question, today, breadth, meaning=meaning)
    chances = estimate_likelihoods(ranking)
    _follow_links(reader, ranking, chances)
    fitting = [
        Selected(candidate, chances[candidate.row.id], [])
        for candidate in ranking.candidates
        if candidate.row.recalled and not (for_agents and candidate.row.withheld)
    ][:CONSIDERED]
    best = max((each.likelihood for each in fitting[:JUDGED]), default=0.0)
    least = max(strictness.later, strictness.share * best)
    chosen = [
        each
        for each in fitting
        if best >= strictness.best and each.likelihood >= least and each.path not in never
    ][:most]
    for each in chosen:
        each.why = list_reasons(each.candidate, ranking)
    return chosen


def estimate_likelihoods(ranking: Ranking) -> dict[int, float]:
    """Return by id the likelihood, 0 to 1, that each note of `ranking` is relevant by itself,
    without its links.
    """
    lexicon = ranking.lexicon
    asked = lexicon.sum_asked() or 1.0
    weights = UNSPACED if ranking.question.is_unspaced else SPACED
    return {
        candidate.row.id: estimate_likelihood(
            weights,
            candidate.of_words / asked,
            *lexicon.cover(candidate.evidence),
            candidate.similarity,
            candidate.evidence.length,
        )
        for candidate in ranking.candidates
    }


def estimate_likelihood(
    weights: Weights,
    score: float,
    stated: float,
    named: float,
    words: float,
    similarity: float,
    length: float,
) -> float:
    """Return the likelihood that a note with this evidence is relevant, 0 to 1: the `score` of its
    words as a share of the weight of the question, what `Lexicon.cover` returns of it, its
    similarity in meaning, and its length in words.
    """
    evidence = (
        weights.start
        + weights.score * log(max(0.0, score) + LEAST_SCORE)
        + weights.stated * stated
        + weights.named * min(named, MOST_IN_NAME)
        + weights.words * min(words, weights.enough)
        + weights.meaning * similarity
        + weights.length * log(max(SHORTEST, min(length, LONGEST)))
    )
    return 1 / (1 + exp(-evidence))


def list_reasons(candidate: Candidate, ranking: Ranking) -> list[str]:
    """Return the reasons for `candidate`, as shown to the user, the strongest first."""
    terms = ranking.lexicon.terms
    evidence = candidate.evidence
    matched = sorted(evidence.frequency, key=lambda term: -terms[term].idf)
    begun = [term for term in evidence.begun if term not in evidence.frequency]
    words = [terms[term].word for term in matched] + [f"{terms[term].word}…" for term in begun]
    # a pair of characters may be a part of one word here and of another one there
    named = [*_list_shared(candidate, ranking), *(it for it in words if not is_unspaced(it[:1]))]
    named = [word for word in named if not (len(word) == 1 and word.isascii())][:MOST_NAMED]
    return ([f"says {', '.join(named)}"] if named else []) + candidate.cues


def _list_shared(candidate: Candidate, ranking: Ranking) -> list[str]:
    """Return the words of unspaced scripts that a candidate shares with the question, the longest
    first.
    """
    runs = list_unspaced_runs(ranking.question.text)
    if not runs:
        return []
    row = candidate.row
    text = join_pairs([*row.name, "", *row.description, "", *row.keywords, "", *row.body])
    shared = dict.fromkeys(word for run in runs for word in find_shared_runs(run, text))
    return sorted(shared, key=len, reverse=True)


def _follow_links(reader: IndexReader, ranking: Ranking, chances: Mapping[int, float]) -> None:
    """Raise the scores of notes that are linked with the best ones, as far as their `chances` to be
    relevant by themselves go. The first stays first.
    """
    if not ranking.candidates or ranking.candidates[0].score <= 0:
        return
    first = ranking.candidates[0]
    best = first.score
    seeds = {
        note.row.id: (note.score / best) ** 2
        for note in ranking.candidates[:SEEDS]
        if note.score > 0
    }
    links = reader.read_links(seeds)
    if not links:
        return
    mass = pagerank(seeds, links)
    most = max(mass.values())
    around = group_neighbours(links)
    for candidate in ranking.candidates[1:]:
        number = candidate.row.id
        gained = LINKED * best * mass.get(number, 0.0) / most
        # a seed names its links as a reason only if they give it more than its words and meaning
        if number not in seeds or gained > candidate.score:
            candidate.cues += _describe_links(around.get(number, ()), ranking.candidates[:SEEDS])
        gained *= chances[number]
        candidate.score = min(candidate.score + gained, best * 0.999)
    ranking.candidates.sort(key=lambda note: (-note.score, note.row.path))


def _describe_links(around: Collection[int], best: Iterable[Candidate]) -> Iterator[str]:
    """Yield a reason that names the `best` notes among those `around` a note, if any."""
    titles = [note.row.title for note in best if note.row.id in around and not note.row.withheld]
    if titles:
        yield f"linked with {', '.join(titles[:MOST_LINKS_NAMED])}"
