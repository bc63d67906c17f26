"""Select which of the statements that contradict each other, or may, are reported or offered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import inf
from typing import NamedTuple

from ricordo.lint.contradictions.alignment import Opposition, has_own_subject
from ricordo.lint.contradictions.claim import read_claim
from ricordo.lint.contradictions.compare import describe_opposition, judge_sentences
from ricordo.lint.contradictions.records import DUPLICATE_REASON, SIMILAR_REASON, redact_reason
from ricordo.lint.contradictions.statements import NoteStatement
from ricordo.lint.evidence import NotePair, NoteQuote, Relation

MIN_LIST = 3
"""Notes that one statement contradicts, from which on they may be a list of similar things."""
_TOO_MANY = 8
"""Notes from which on they certainly are a list."""
MAX_UNCERTAIN = 200
"""Candidates per memory."""
Paths = tuple[str, str]
"""The paths of two notes, in order."""


class OpposedStatements(NamedTuple):
    """Two statements of two notes that contradict each other, or may."""

    paths: Paths
    left: NoteStatement
    right: NoteStatement
    opposition: Opposition
    code: str = ""
    """The short code that has to be a name in the memory; "" where there is none."""
    passages: tuple[str, str] = ("", "")
    """What is said with both, where that was judged."""


def keep_plainest(found: Iterable[OpposedStatements]) -> list[OpposedStatements]:
    """Return of each two passages the sentences that contradict each other most by themselves."""
    plainest: dict[tuple[str, str], tuple[float, OpposedStatements]] = {}
    for it in found:
        alone = judge_sentences(it.left.text, it.right.text)
        score = alone.score if alone else -inf
        best = plainest.get(it.passages)
        if best is None or score > best[0]:
            plainest[it.passages] = score, it
    return [it for _, it in plainest.values()]


def rank(it: OpposedStatements) -> tuple[float, Paths, int, int, int, str, str]:
    """Return the sort key of a candidate: the likeliest contradiction first."""
    return -it.opposition.score, *_order(it)


def drop_lists(opposed: Iterable[OpposedStatements]) -> list[OpposedStatements]:
    """Return the contradictions in order without those of lists: a statement that contradicts many
    notes describes one of several similar things, unless all are about one that they name. Those
    are reported once each, against the first.
    """
    ordered = sorted(opposed, key=_order)
    counts = _count_notes(ordered)
    found: list[OpposedStatements] = []
    against: set[tuple[str, str]] = set()
    for it in ordered:
        count = _get_count(counts, it)
        right = it.paths[1], it.right.text
        if count < MIN_LIST or (
            count < _TOO_MANY
            and right not in against
            and has_own_subject(read_claim(it.left.text), read_claim(it.right.text))
        ):
            found.append(it)
            against.add(right)
    return found


def _order(it: OpposedStatements) -> tuple[Paths, int, int, int, str, str]:
    """Return the sort key: bodies before descriptions, which sum them up."""
    in_head = it.left.in_frontmatter + it.right.in_frontmatter
    return it.paths, in_head, it.left.line, it.right.line, it.left.text, it.right.text


def _count_notes(opposed: Iterable[OpposedStatements]) -> Counter[tuple[str, str]]:
    """Count the notes that contradict each statement of a note."""
    others: dict[tuple[str, str], set[str]] = defaultdict(set)
    for it in opposed:
        others[it.paths[0], it.left.text].add(it.paths[1])
        others[it.paths[1], it.right.text].add(it.paths[0])
    return Counter({statement: len(paths) for statement, paths in others.items()})


def _get_count(counts: Counter[tuple[str, str]], it: OpposedStatements) -> int:
    return max(counts[it.paths[0], it.left.text], counts[it.paths[1], it.right.text])


def select_pairs(
    opposed: Iterable[OpposedStatements],
    candidates: Iterable[OpposedStatements],
    repeating: Mapping[Paths, Relation],
) -> tuple[NotePair, ...]:
    """Return the pairs to report, by path; then candidates, the likeliest first, one of every two
    notes. A contradiction excludes a duplicate, and a certain pair an uncertain one.
    """
    # description and body may state the same
    certain = {(it.paths, it.opposition.difference.subject): it for it in reversed(list(opposed))}
    pairs = [make_pair(Relation.CONTRADICTS, it) for it in certain.values()]
    paths_used = {it.paths for it in certain.values()}
    whole = {paths: it for paths, it in repeating.items() if paths not in paths_used}
    pairs += [_of_whole(paths, it) for paths, it in whole.items() if it.is_certain]
    paths_used |= {paths for paths, it in whole.items() if it.is_certain}
    pairs.sort(key=lambda it: (it.left.path, it.right.path, it.left.line))
    offered: dict[Paths, OpposedStatements] = {}
    for it in sorted(candidates, key=rank):
        if it.paths not in paths_used:
            offered.setdefault(it.paths, it)
    similar = sorted(paths for paths in whole.keys() - paths_used if paths not in offered)
    doubts = [
        *(_of_whole(paths, Relation.MAY_REPEAT) for paths in similar),
        *(make_pair(Relation.MAY_CONTRADICT, it) for it in offered.values()),
    ]
    return (*pairs, *doubts[:MAX_UNCERTAIN])


def _of_whole(paths: Paths, relation: Relation) -> NotePair:
    reason = DUPLICATE_REASON if relation is Relation.REPEATS else SIMILAR_REASON
    return NotePair(relation, NoteQuote(paths[0], 0, ""), NoteQuote(paths[1], 0, ""), reason)


def make_pair(relation: Relation, it: OpposedStatements) -> NotePair:
    """Return two statements as a pair of notes, with the reason in a few words."""
    quotes = NoteQuote(it.paths[0], *it.left[:2]), NoteQuote(it.paths[1], *it.right[:2])
    reason = it.opposition.reason
    if any(it.passages):
        reason = describe_opposition(it.left.text, it.right.text, it.passages) or reason
    reason = redact_reason(reason, it.left.text, it.right.text)
    return NotePair(relation, *quotes, reason)
