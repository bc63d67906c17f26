"""Select the few notes that an agent or a user should read for a message; none if none is relevant.

Standard library only: the hook selects as `ricordo recall` does.
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
    from ricordo.search.reader import IndexReader

    Meaning = Callable[[str, Sequence[bytes]], Sequence[float]]
    """A second, semantic score: takes the message and the paths of notes, and returns a number for
    each, higher for more similar, on any scale.
    """

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
LEAST_WORDS = 2
"""A message with fewer content words gets no notes."""

SEEDS = 20
LINKED = 0.7
"""How many of the best notes are seeds of the walk over links, and the share of the best score that
the most linked note gains.
"""
MOST_LINKED = 8
"""Notes that are scored for their links only: more than are selected, because some were given
already or are not notes.
"""
MOST_ASKED = 12
"""Words of a long message that count as asked for, the rarest: it also contains statements. Of the
756 questions of LoCoMo's conversations two have more content words.
"""

MIDDLE, SLOPE = 0.85, 4.5
LIKELY, ALSO_LIKELY = 0.5, 0.2
"""A logistic function of the best score divided by the weight of the question: 0.5 at `MIDDLE`.
Fitted on two conversations of LoCoMo, their own questions against those of others; on two others it
answers nine in ten of their own and one in fifteen of foreign ones. The best note needs the
likelihood `LIKELY`, later ones `ALSO_LIKELY`.
"""
MOST_NAMED = 5
"""Words in a reason."""
MOST_LINKS_NAMED = 2
"""Notes in a reason."""


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
) -> list[Selected]:
    """Return at most `most` notes that are relevant to the `question`, best first, without the
    paths `never`, logs and schemas, and, with `for_agents`, without notes withheld from agents.
    Raises sqlite3.Error.
    """
    ranking = rank(reader, question, today, breadth)
    if likelihood_of_best(ranking) < LIKELY:
        return []
    asked = ranking.lexicon.sum_asked(MOST_ASKED)
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
            chosen.append(Selected(candidate, chance, list_reasons(candidate, ranking)))
    return chosen


def likelihood_of_best(ranking: Ranking) -> float:
    """Return the likelihood that any note is relevant to the question of `ranking`, 0 to 1."""
    if len(ranking.question.words) < LEAST_WORDS or not ranking.candidates:
        return 0.0
    best = ranking.candidates[0].score
    return likelihood(best, ranking.lexicon.sum_asked(MOST_ASKED))


def likelihood(score: float, asked: float) -> float:
    """Return the likelihood that a note with this `score` is relevant to a message with the weight
    `asked`, 0 to 1.
    """
    if score <= 0 or asked <= 0:
        return 0.0
    return 1 / (1 + exp(-SLOPE * log(score / asked / MIDDLE)))


def list_reasons(candidate: Candidate, ranking: Ranking) -> list[str]:
    """Return the reasons for `candidate`, as shown to the user, the strongest first."""
    terms = ranking.lexicon.terms
    evidence = candidate.evidence
    matched = sorted(evidence.frequency, key=lambda term: -terms[term].idf)
    begun = [term for term in evidence.begun if term not in evidence.frequency]
    words = [terms[term].word for term in matched] + [f"{terms[term].word}…" for term in begun]
    named = ", ".join(_join_pairs(words)[:MOST_NAMED])
    return ([f"says {named}"] if named else []) + candidate.cues


def _join_pairs(words: Sequence[str]) -> list[str]:
    """Return `words` with overlapping character pairs of unspaced scripts joined."""
    remaining, joined = list(words), []
    while remaining:
        word = remaining.pop(0)
        while is_unspaced(word):
            unspaced = [other for other in remaining if is_unspaced(other)]
            after = next((other for other in unspaced if other[0] == word[-1]), "")
            before = next((other for other in unspaced if other[-1] == word[0]), "")
            if not after and not before:
                break
            remaining.remove(after or before)
            word = word + after[1:] if after else before[:-1] + word
        joined.append(word)
    return joined


def _fuse(ranking: Ranking, meaning: Meaning) -> None:
    """Add a semantic score: s / max(s) + w minmax(m), w = .5 + .5 (1 - coverage by the best): the
    fewer of the question's words match, the more the meaning counts.
    """
    candidates = ranking.candidates
    best = candidates[0].score
    similarity = meaning(ranking.question.text, [note.row.path for note in candidates])
    low, span = min(similarity), (max(similarity) - min(similarity)) or 1.0
    weight = 0.5 + 0.5 * (1 - ranking.lexicon.coverage([candidates[0].evidence.frequency]))
    for candidate, value in zip(candidates, similarity, strict=True):
        candidate.score += best * weight * (value - low) / span
    candidates.sort(key=lambda candidate: (-candidate.score, candidate.row.path))


def _follow_links(reader: IndexReader, ranking: Ranking) -> None:
    """Add notes linked with the best ones. The first stays first: it was found by its words."""
    first = ranking.candidates[0]
    best = first.score
    seeds = {note.row.id: (note.score / best) ** 2 for note in ranking.candidates[:SEEDS]}
    links = reader.read_links(seeds)
    if not links:
        return
    by_id = {note.row.id: note for note in ranking.candidates}
    mass = pagerank(seeds, links)
    most = max(mass.values())
    missing = sorted(mass.keys() - by_id.keys(), key=lambda note: -mass[note])[:MOST_LINKED]
    for row in reader.read_rows(missing):
        by_id[row.id] = Candidate(TermHits(row, ranking.lexicon))
    around = group_neighbours(links)
    for number, candidate in by_id.items():
        if number == first.row.id:
            continue
        gained = LINKED * best * mass.get(number, 0.0) / most
        # a seed names its links as a reason only if they give it more than its words
        if number not in seeds or gained > candidate.score:
            candidate.cues += _describe_links(around.get(number, ()), ranking.candidates[:SEEDS])
        candidate.score = min(candidate.score + gained, best * 0.999)
    ranking.candidates = sorted(by_id.values(), key=lambda note: (-note.score, note.row.path))


def _describe_links(around: Collection[int], best: Iterable[Candidate]) -> Iterator[str]:
    """Yield a reason that names the `best` notes among those `around` a note, if any."""
    titles = [note.row.title for note in best if note.row.id in around and not note.row.withheld]
    if titles:
        yield f"linked with {', '.join(titles[:MOST_LINKS_NAMED])}"
