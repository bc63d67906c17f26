"""Find notes of a memory that repeat or contradict each other, and uncertain pairs.

Candidates are found by blocking, so that no note is compared with every other one. Results are
cached: after a change, only the changed notes are compared again.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import NamedTuple

from ricordo.background import pause_gc
from ricordo.lint.contradictions.claim import ParsedClaim, Word
from ricordo.lint.contradictions.compare import (
    align_claims,
    explain_contradiction,
    find_uncertainty,
)
from ricordo.lint.contradictions.parser import parse_claim
from ricordo.lint.contradictions.records import DUPLICATE_REASON, SIMILAR_REASON, redact_reason
from ricordo.lint.contradictions.repeats import (
    compare_notes,
    find_candidates,
    find_candidates_for,
    find_template_statements,
)
from ricordo.lint.contradictions.statements import (
    NoteDigest,
    NoteStatement,
    build_digest,
    is_class_key,
)
from ricordo.lint.evidence import NotePair, NoteQuote, Relation
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

_WORD_BITS = 20
_PLACE_BITS = 24
_MOST_WORDS = (1 << _WORD_BITS) - 2
MAX_PLACES = 1 << _PLACE_BITS
"""Maximum number of statements in one index."""
_RAREST = 4
"""Words of a statement of which two make a key."""
_SHORT = 6
"""Words of a statement of which any two make a key."""
_SCANT = 2
"""Words of a statement so short that each one makes a key, too."""
_CROWD = 24
"""Statements with one key from which on they are a list, not a few of one subject."""
_EVERY_STATEMENT = 2_000


class Blocks:
    """The statements of a memory by their keys."""

    def __init__(
        self, subjects: Sequence[tuple[str, ...]], step: Callable[[], None] = lambda: None
    ) -> None:
        """`subjects` are the words of each statement; `step` is called regularly."""
        counts = Counter(chain.from_iterable(subjects))
        told = sorted((word for word, n in counts.items() if n > 1), key=lambda w: (counts[w], w))
        self._number = {word: number for number, word in enumerate(told[:_MOST_WORDS], 1)}
        found = array("Q")
        for place, words in enumerate(subjects):
            if not place % _EVERY_STATEMENT:
                step()
            if words:
                found.extend([key << _PLACE_BITS | place for key in self._keys(words)])
        step()
        self._sorted = array("Q", sorted(found))

    def pairs(self) -> set[tuple[int, int]]:
        """Return the places of every two statements that are worth comparing, the lower first."""
        found: set[tuple[int, int]] = set()
        for places in self._groups():
            found.update(combinations(places, 2))
        return found

    def near(self, words: tuple[str, ...]) -> set[int]:
        """Return the places of the statements that are worth comparing with one of these words."""
        found: set[int] = set()
        for key in self._keys(words):
            start = bisect_left(self._sorted, key << _PLACE_BITS)
            end = bisect_left(self._sorted, (key + 1) << _PLACE_BITS, start)
            if end - start < _CROWD:
                found.update(it & (MAX_PLACES - 1) for it in self._sorted[start:end])
        return found

    def _groups(self) -> Iterator[list[int]]:
        """Yield the places that share a key, in order, without crowds."""
        last = -1
        places: list[int] = []
        mask = MAX_PLACES - 1
        for it in self._sorted:
            key = it >> _PLACE_BITS
            if key != last:
                if 1 < len(places) <= _CROWD:
                    yield places
                last, places = key, []
            places.append(it & mask)
        if 1 < len(places) <= _CROWD:
            yield places

    def _keys(self, words: Iterable[str]) -> list[int]:
        number = self._number.get
        numbers = sorted([it for word in words if (it := number(word))])
        is_scant = len(numbers) <= _SCANT
        if len(numbers) > _SHORT:
            numbers = numbers[:_RAREST]
        keys = [a << _WORD_BITS | b for a, b in combinations(numbers, 2)]
        return [*keys, *numbers] if is_scant else keys


MIN_LIST = 3
"""Notes that one statement contradicts, from which on they may be a list of similar things."""
_TOO_MANY = 8
"""Notes from which on they certainly are a list."""
_NAMED = 2
"""Words of a subject that identify a thing."""


def is_listed(left: str, right: str, notes: int) -> bool:
    """Return whether two contradicting statements, of which one contradicts so many `notes`, are
    about two things of a list: each describes its note, not a thing that it names.
    """
    if notes < MIN_LIST:
        return False
    return notes >= _TOO_MANY or not _is_named(parse_claim(left), parse_claim(right))


def _is_named(one: ParsedClaim, other: ParsedClaim) -> bool:
    """Return whether both name their subject."""
    if one.person and one.person == other.person:
        return True
    shared = one.subject & other.subject
    if any(it.key in shared and (it.is_name or _is_all_of_them(it)) for it in one.words):
        return True
    # the subject of an order to use a thing is the agent
    is_order = bool(one.tools) and one.has_verb and not (one.subject or other.subject)
    return is_order or len(shared) >= _NAMED


def _is_all_of_them(word: Word) -> bool:
    """Return whether a word means all things of its kind, like `sessions` at the beginning."""
    return word.at == 0 and word.text.endswith("s")


MAX_UNCERTAIN = 200
"""Per memory: most uncertain pairs are no contradictions."""

Paths = tuple[str, str]
"""The paths of two notes, in order."""


class OpposedStatements(NamedTuple):
    """Two statements that contradict each other, or may."""

    left: NoteStatement
    right: NoteStatement
    reason: str
    distance: float | None = None
    """Of an uncertain pair, how far the two are apart; None for a contradiction."""


def compare_statements(left: NoteStatement, right: NoteStatement) -> OpposedStatements | None:
    """Return the contradiction between two statements, certain or not; None for none."""
    pair = align_claims(parse_claim(left.text), parse_claim(right.text))
    if pair is None:
        return None
    if reason := explain_contradiction(pair):
        return OpposedStatements(left, right, reason)
    # two descriptions name the subjects of notes; they state no facts
    doubt = None if left.in_frontmatter and right.in_frontmatter else find_uncertainty(pair)
    return OpposedStatements(left, right, *doubt) if doubt else None


def select_pairs(
    opposed: Mapping[Paths, tuple[OpposedStatements, ...]], repeating: Mapping[Paths, Relation]
) -> tuple[NotePair, ...]:
    """Return the pairs to report: certain ones by path, then uncertain ones, the likeliest first.
    A contradiction excludes a duplicate, and a certain pair an uncertain one.
    """
    certain = {
        paths: kept
        for paths, them in opposed.items()
        if (kept := tuple(it for it in them if it.distance is None))
    }
    pairs = list(_excluding(certain))
    told_of = {(it.left.path, it.right.path) for it in pairs}
    whole = {paths: it for paths, it in repeating.items() if paths not in told_of}
    pairs += [_of_whole(paths, it) for paths, it in whole.items() if it.is_certain]
    sure = {paths for paths, it in whole.items() if it.is_certain}
    opposing = list(_in_doubt(opposed, told_of | sure))
    told_of |= {(it.left.path, it.right.path) for it in opposing}
    similar = sorted(paths for paths in whole.keys() - sure if paths not in told_of)
    doubts = [*(_of_whole(paths, Relation.MAY_REPEAT) for paths in similar), *opposing]
    pairs.sort(key=lambda it: (it.left.path, it.right.path))
    return (*pairs, *doubts[:MAX_UNCERTAIN])


def _of_whole(paths: Paths, relation: Relation) -> NotePair:
    reason = DUPLICATE_REASON if relation is Relation.REPEATS else SIMILAR_REASON
    return NotePair(relation, NoteQuote(paths[0], 0, ""), NoteQuote(paths[1], 0, ""), reason)


def _pair(relation: Relation, paths: Paths, it: OpposedStatements) -> NotePair:
    quotes = NoteQuote(paths[0], *it.left[:2]), NoteQuote(paths[1], *it.right[:2])
    return NotePair(relation, *quotes, redact_reason(it.reason, it.left.text, it.right.text))


def _in_doubt(
    opposed: Mapping[Paths, tuple[OpposedStatements, ...]], told_of: set[Paths]
) -> Iterator[NotePair]:
    """Yield the likeliest uncertain pair of every two notes, likeliest first overall. A statement
    with counterparts in many notes is part of a list.
    """
    counts = _counts(opposed)
    nearest: list[tuple[float, Paths, OpposedStatements]] = []
    for paths, them in opposed.items():
        alone = [it for it in them if _notes(counts, paths, it) < MIN_LIST]
        if alone and paths not in told_of:
            it = min(alone, key=lambda it: it.distance or 0.0)
            nearest.append((it.distance or 0.0, paths, it))
    for _, paths, it in sorted(nearest, key=lambda them: them[:2]):
        yield _pair(Relation.MAY_CONTRADICT, paths, it)


def _excluding(opposed: Mapping[Paths, tuple[OpposedStatements, ...]]) -> Iterator[NotePair]:
    """Yield the contradictions to report; of many notes on one subject, each once, against the
    first.
    """
    told: set[tuple[str, str]] = set()
    for paths, them in _unlisted(opposed):
        # description and body may state the same
        once = {
            it.reason: it
            for it, notes in reversed(them)
            if notes < MIN_LIST or (paths[1], it.right.text) not in told
        }
        told.update((paths[1], it.right.text) for it in once.values())
        yield from (_pair(Relation.CONTRADICTS, paths, it) for it in reversed(once.values()))


def _unlisted(
    opposed: Mapping[Paths, tuple[OpposedStatements, ...]],
) -> Iterator[tuple[Paths, list[tuple[OpposedStatements, int]]]]:
    """Yield contradicting notes, except lists of similar things, with the number of notes that
    contradict one of the two statements.
    """
    counts = _counts(opposed)
    for paths, them in sorted(opposed.items()):
        crowds = [(it, _notes(counts, paths, it)) for it in them]
        kept = [it for it in crowds if not is_listed(it[0].left.text, it[0].right.text, it[1])]
        if kept:
            yield paths, kept


def _counts(opposed: Mapping[Paths, tuple[OpposedStatements, ...]]) -> Counter[tuple[str, str]]:
    """Count the notes that contradict each statement of a note."""
    counts: Counter[tuple[str, str]] = Counter()
    for (left, right), them in opposed.items():
        counts.update({(left, it.left.text) for it in them})
        counts.update({(right, it.right.text) for it in them})
    return counts


def _notes(counts: Counter[tuple[str, str]], paths: Paths, it: OpposedStatements) -> int:
    return max(counts[paths[0], it.left.text], counts[paths[1], it.right.text])


MAX_CHANGED = 50
"""Notes changed since the index of statements was built, up to which it is not rebuilt."""
_MOST_OWN = 2
"""Words that only one statement may have, beyond as many as both share, where both name a thing of
one class.
"""
_EVERY = 50
"""Notes, pairs or statements between two steps."""

Step = Callable[[], None]


class _Place(NamedTuple):
    path: str
    number: int
    """Index of the statement in the note."""


@dataclass(slots=True)
class _Cache:
    """The results for a memory at one moment."""

    texts: dict[str, bytes] = field(default_factory=dict)
    digests: dict[str, NoteDigest] = field(default_factory=dict)
    blocks: Blocks | None = None
    places: list[_Place] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    """Paths of the notes that changed since `blocks` were built."""
    opposed: dict[Paths, tuple[OpposedStatements, ...]] = field(default_factory=dict)
    """Contradictions and uncertain pairs."""
    repeating: dict[Paths, Relation] = field(default_factory=dict)


class NoteComparer:
    """Compares the notes of one memory after each change. Not thread-safe."""

    def __init__(self) -> None:
        self._known = _Cache()

    def pairs(self, memory: Memory, step: Step = lambda: None) -> tuple[NotePair, ...]:
        """Return the notes of `memory` that repeat or contradict each other, ordered by path.

        `step` is called every few milliseconds; when it raises, the cache stays as it was.
        """
        notes = {it.path: it for it in memory.notes if it.role is FileRole.NOTE and it.is_readable}
        known = self._known
        changed = {p for p, note in notes.items() if known.texts.get(p) != note.raw}
        gone = known.texts.keys() - notes.keys()
        if changed or gone:
            with pause_gc():
                self._known = self._update(notes, changed, gone, step)
        return select_pairs(self._known.opposed, self._known.repeating)

    def _update(
        self, notes: Mapping[str, Note], changed: set[str], gone: Collection[str], step: Step
    ) -> _Cache:
        before = self._known
        digests = {path: it for path, it in before.digests.items() if path in notes}
        for number, path in enumerate(changed):
            if not number % _EVERY:
                step()
            digests[path] = build_digest(notes[path])
        known = _Cache({path: note.raw for path, note in notes.items()}, digests)
        touched = changed.union(gone)
        known.changed = before.changed | touched
        if before.blocks is None or len(known.changed) > MAX_CHANGED:
            _compare_all(known, notes, step)
        else:
            known.blocks, known.places = before.blocks, before.places
            known.opposed = {
                paths: it for paths, it in before.opposed.items() if touched.isdisjoint(paths)
            }
            known.repeating = {
                paths: it for paths, it in before.repeating.items() if touched.isdisjoint(paths)
            }
            _compare_changed(known, notes, changed, step)
        return known


def _compare_all(known: _Cache, notes: Mapping[str, Note], step: Step) -> None:
    known.changed = set()
    digests = known.digests
    known.places = [
        _Place(path, number)
        for path in sorted(digests)
        for number in range(len(digests[path].statements))
    ][:MAX_PLACES]
    subjects = [digests[it.path].subjects[it.number] for it in known.places]
    known.blocks = Blocks(subjects, step)
    near = (
        (known.places[one], known.places[other])
        for one, other in known.blocks.pairs()
        if _may_exclude(subjects[one], subjects[other])
    )
    known.opposed = _opposed_of(known, near, step)
    step()
    known.repeating = _repeating(known, notes, find_candidates(digests), step)


def _compare_changed(
    known: _Cache, notes: Mapping[str, Note], changed: Iterable[str], step: Step
) -> None:
    changed = sorted(changed)
    for path in changed:
        step()
        near = list(_near(known, path))
        known.opposed |= _opposed_of(known, near, step)
        again = {
            (min(path, it), max(path, it))
            for it in find_candidates_for(known.digests[path], known.digests)
            if it != path
        }
        known.repeating |= _repeating(known, notes, again, step)


def _near(known: _Cache, path: str) -> Iterator[tuple[_Place, _Place]]:
    """Yield the statements worth comparing with those of a changed note."""
    assert known.blocks is not None
    others = sorted(known.changed & known.digests.keys() - {path})
    fresh = [
        (_Place(it, number), words)
        for it in others
        for number, words in enumerate(known.digests[it].subjects)
    ]
    for number, words in enumerate(known.digests[path].subjects):
        here = _Place(path, number)
        for at in known.blocks.near(words):
            there = known.places[at]
            if there.path not in known.changed and _may_exclude(
                words, known.digests[there.path].subjects[there.number]
            ):
                yield here, there
        yield from ((here, there) for there, its in fresh if _may_exclude(words, its))


def _may_exclude(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether two statements share enough words to contradict each other."""
    shared = set(one).intersection(other)
    most = max(len(one), len(other))
    own = _MOST_OWN if most > 2 * len(shared) and any(map(is_class_key, shared)) else 0
    return 0 < most <= 2 * len(shared) + own


def _opposed_of(
    known: _Cache, near: Iterable[tuple[_Place, _Place]], step: Step
) -> dict[Paths, tuple[OpposedStatements, ...]]:
    found: dict[Paths, list[OpposedStatements]] = defaultdict(list)
    for number, (one, other) in enumerate(near):
        if not number % _EVERY:
            step()
        if one.path == other.path:
            continue
        one, other = sorted((one, other))
        left, right = (known.digests[it.path].statements[it.number] for it in (one, other))
        if (it := compare_statements(left, right)) is not None:
            found[one.path, other.path].append(it)
    return {paths: tuple(sorted(it, key=_plainness)) for paths, it in found.items()}


def _plainness(it: OpposedStatements) -> tuple[int, int, int]:
    """Return the sort key: bodies before descriptions, which sum them up."""
    return (it.left.in_frontmatter + it.right.in_frontmatter, it.left.line, it.right.line)


def _repeating(
    known: _Cache, notes: Mapping[str, Note], candidates: Iterable[Paths], step: Step
) -> dict[Paths, Relation]:
    found: dict[Paths, Relation] = {}
    todo = sorted(candidates)
    common = find_template_statements(known.digests) if todo else frozenset()
    for one, other in todo:
        step()
        digests = known.digests[one], known.digests[other]
        if (relation := compare_notes(notes[one], notes[other], digests, common)) is not None:
            found[one, other] = relation
    return found
