"""The few notes that an agent, or a person, should read for a message; none where none bears on it.

Standard library alone: the hook selects as `ricordo recall` does.
"""

from __future__ import annotations

from math import exp, log

from ricordo.search.lexical import TermHits
from ricordo.search.rank import WIDE, Candidate, rank
from ricordo.search.words import is_unspaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from ricordo.search.question import RecallQuestion
    from ricordo.search.rank import Breadth, Ranking
    from ricordo.search.reader import Reader

    Meaning = Callable[[str, Sequence[bytes]], Sequence[float]]
    """A second score, by meaning: is given the message and the paths of notes, and gives a number
    for each, higher for nearer; how they are scaled does not matter.
    """

RESTART = 0.35
STEPS = 10
"""How likely a walker begins again at one of the notes it came from, and how long it walks (the
design's figures; they took HotpotQA from .770 to .880).
"""


def neighbours(links: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """Return for every note those that it links to or that link to it: a link tells of both."""
    found: dict[int, set[int]] = {}
    for source, target in links:
        found.setdefault(source, set()).add(target)
        found.setdefault(target, set()).add(source)
    return found


def pagerank(seeds: Mapping[int, float], links: Iterable[tuple[int, int]]) -> dict[int, float]:
    """Return how often a walker who begins at the `seeds`, by their weight, comes to each note,
    all together 1: personalised PageRank (T. Haveliwala, Topic-Sensitive PageRank, 2002).
    """
    around = neighbours(links)
    total = sum(seeds.values())
    start = {note: weight / total for note, weight in seeds.items()} if total else {}
    mass = dict(start)
    for _ in range(STEPS):
        after = {note: RESTART * weight for note, weight in start.items()}
        for note, here in mass.items():
            reached = around.get(note)
            if not reached:
                after[note] = after.get(note, 0.0) + (1 - RESTART) * here
                continue
            share = (1 - RESTART) * here / len(reached)
            for other in reached:
                after[other] = after.get(other, 0.0) + share
        mass = after
    return mass


MOST = 5
"""Notes for one message, as many as Claude Code's own selector takes."""
LEAST_WORDS = 2
"""A message with fewer words that name something gets nothing."""

SEEDS = 20
LINKED = 0.7
"""How many of the best notes lead on over their links, and what a note gains of the best score
that all walkers reach (the design: the squared top 20, weight .7 to 1.0).
"""
MOST_LINKED = 8
"""Notes that are looked at for their links alone: more than are given, of which some are given
already or are no notes.
"""
MOST_ASKED = 12
"""Of a long message the rarest words count as asked for: it tells more than it asks. Of the
756 questions of LoCoMo's conversations here two have more that name something.
"""

MIDDLE, SLOPE = 0.85, 4.5
LIKELY, ALSO_LIKELY = 0.5, 0.2
"""A logistic of the best score beside the weight of what is asked: even chances at `MIDDLE`. Fitted
on two conversations of LoCoMo, their own questions against those of others; on two others it
answers nine in ten of their own and one in fifteen of foreign ones. The best note has to be
`LIKELY`, those after it `ALSO_LIKELY`.
"""
MOST_NAMED = 5
"""Words that a reason names."""
MOST_LINKS_NAMED = 2
"""Notes that a reason names."""


class Selected:
    """A note that bears on a message."""

    __slots__ = ("candidate", "likelihood", "score", "why")

    def __init__(self, candidate: Candidate, likelihood: float, why: list[str]) -> None:
        self.candidate = candidate
        self.score = candidate.score
        self.likelihood = likelihood
        """That it bears on the message, 0 to 1."""
        self.why = why
        """Reasons, as a person would say them, the strongest first."""

    @property
    def path(self) -> bytes:
        """Relative to the memory, in the bytes of the file system."""
        return self.candidate.row.path


def select(
    reader: Reader,
    question: RecallQuestion,
    today: date,
    most: int = MOST,
    never: Collection[bytes] = frozenset(),
    breadth: Breadth = WIDE,
    meaning: Meaning | None = None,
    for_agents: bool = True,
) -> list[Selected]:
    """Return at most `most` notes that bear on the `question`, best first, none of the paths
    `never` and no logs or schemas; `for_agents` none that are withheld from them. Raises
    sqlite3.Error.
    """
    ranking = rank(reader, question, today, breadth)
    if likelihood_of_best(ranking) < LIKELY:
        return []
    asked = ranking.lexicon.weight_asked(MOST_ASKED)
    if meaning:
        _fuse(ranking, meaning)
    _follow_links(reader, ranking)
    chosen: list[Selected] = []
    for candidate in ranking.candidates:
        chance = likelihood(candidate.score, asked)
        if len(chosen) == most or chance < ALSO_LIKELY:
            break
        row = candidate.row
        if row.recalled and row.path not in never and not (for_agents and row.withheld):
            chosen.append(Selected(candidate, chance, reasons(candidate, ranking)))
    return chosen


def likelihood_of_best(ranking: Ranking) -> float:
    """Return how likely it is that any note bears on the question of `ranking`, 0 to 1."""
    if len(ranking.question.words) < LEAST_WORDS or not ranking.candidates:
        return 0.0
    best = ranking.candidates[0].score
    return likelihood(best, ranking.lexicon.weight_asked(MOST_ASKED))


def likelihood(score: float, asked: float) -> float:
    """Return how likely a note of this `score` bears on a message that asks for so much."""
    if score <= 0 or asked <= 0:
        return 0.0
    return 1 / (1 + exp(-SLOPE * log(score / asked / MIDDLE)))


def reasons(candidate: Candidate, ranking: Ranking) -> list[str]:
    """Return why `candidate` answers, as a person would say it."""
    terms = ranking.lexicon.terms
    evidence = candidate.evidence
    found = sorted(evidence.frequency, key=lambda term: -terms[term].idf)
    begun = [term for term in evidence.begun if term not in evidence.frequency]
    named = [terms[term].word for term in found] + [f"{terms[term].word}…" for term in begun]
    said = ", ".join(_whole(named)[:MOST_NAMED])
    return ([f"says {said}"] if said else []) + candidate.cues


def _whole(named: Sequence[str]) -> list[str]:
    """The words `named`, those of a script without blanks put together again: pairs of characters
    of which each begins as the one before it ends.
    """
    left, whole = list(named), []
    while left:
        word = left.pop(0)
        while is_unspaced(word):
            after = next((it for it in left if it[0] == word[-1] and is_unspaced(it)), "")
            before = next((it for it in left if it[-1] == word[0] and is_unspaced(it)), "")
            if not after and not before:
                break
            left.remove(after or before)
            word = word + after[1:] if after else before[:-1] + word
        whole.append(word)
    return whole


def _fuse(ranking: Ranking, meaning: Meaning) -> None:
    """Add a score by meaning: s / max(s) + w minmax(m), w = .5 + .5 (1 - coverage by the best):
    the fewer of its words are found, the more the meaning counts (the design's formula).
    """
    candidates = ranking.candidates
    best = candidates[0].score
    near = meaning(ranking.question.text, [it.row.path for it in candidates])
    low, span = min(near), (max(near) - min(near)) or 1.0
    weight = 0.5 + 0.5 * (1 - ranking.lexicon.coverage([candidates[0].evidence.frequency]))
    for candidate, value in zip(candidates, near, strict=True):
        candidate.score += best * weight * (value - low) / span
    candidates.sort(key=lambda it: (-it.score, it.row.path))


def _follow_links(reader: Reader, ranking: Ranking) -> None:
    """Add what is linked with the best notes. The first stays first: it was found by its words."""
    first = ranking.candidates[0]
    best = first.score
    seeds = {it.row.id: (it.score / best) ** 2 for it in ranking.candidates[:SEEDS]}
    links = reader.links(seeds)
    if not links:
        return
    found = {it.row.id: it for it in ranking.candidates}
    mass = pagerank(seeds, links)
    most = max(mass.values())
    missing = sorted(mass.keys() - found.keys(), key=lambda note: -mass[note])[:MOST_LINKED]
    for row in reader.rows(missing):
        found[row.id] = Candidate(TermHits(row, ranking.lexicon))
    around = neighbours(links)
    for number, candidate in found.items():
        if number == first.row.id:
            continue
        gained = LINKED * best * mass.get(number, 0.0) / most
        # who is among the best by its words alone owes its place to links where they give it more
        if number not in seeds or gained > candidate.score:
            candidate.cues += _linked(around.get(number, ()), ranking.candidates[:SEEDS])
        candidate.score = min(candidate.score + gained, best * 0.999)
    ranking.candidates = sorted(found.values(), key=lambda it: (-it.score, it.row.path))


def _linked(around: Collection[int], best: Iterable[Candidate]) -> Iterator[str]:
    """Which of the `best` notes stand beside a note, in words."""
    titles = [it.row.title for it in best if it.row.id in around and not it.row.withheld]
    if titles:
        yield f"linked with {', '.join(titles[:MOST_LINKS_NAMED])}"
