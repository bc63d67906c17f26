"""Find notes of a memory that repeat or contradict each other, and candidates for the user's look.

The claims of a memory are grouped by a word of their subject and their relation; only the claims of
one group are compared, and large groups are lists of similar things. Results are kept by group, so
that after a change only the groups of the changed notes are compared again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nlargest, nsmallest
from itertools import combinations
from math import log
from posixpath import dirname

from ricordo.background import pause_gc
from ricordo.lint.archive import Archive, are_versions, is_superseded
from ricordo.lint.contradictions.alignment import oppose_facts
from ricordo.lint.contradictions.claim import Claim, is_bound, read_claim
from ricordo.lint.contradictions.compare import judge_reliably, oppose_reliably, relate_statements
from ricordo.lint.contradictions.facts import has_ticket, is_ticket, share_fact
from ricordo.lint.contradictions.repeats import (
    compare_notes,
    find_candidates,
    find_candidates_for,
    find_templates,
    is_generated,
    may_be_one_page,
)
from ricordo.lint.contradictions.selection import (
    OpposedStatements,
    Paths,
    drop_lists,
    keep_plainest,
    make_pair,
    rank,
    select_pairs,
)
from ricordo.lint.contradictions.statement_index import CROWD, NearStatement, Place, StatementIndex
from ricordo.lint.contradictions.statements import NoteDigest, QuotedFact, build_digest
from ricordo.lint.contradictions.words import load_words
from ricordo.lint.evidence import NotePair, Relation
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

_FARTHEST = 10
"""Words that differ between two claims, of both together."""
_FIELDS = 3
"""Statements, and notes that have them with other values, from which on they are a template."""
MAX_RECENT = 60
"""Notes, the last that changed, whose statements are judged in any wording."""
_MANY = 500
"""Notes from which on only a third of that: finding what is nearest takes longest."""
_FEWEST, _RARER, _RAREST = 4, 0.25, 1.0
"""Statements up to which a contradiction is as likely as in a pair that somebody chose, what each
e-fold of them takes from its log odds, and the most that they take.
"""
_MOST_OFFERED = 3
"""Candidates of one such note."""
_MOST_JUDGED = 10
"""Statements that are nearest to those of one such note, which are judged with them."""
_MOST_IN_ALL = 10
"""Candidates of all these notes, the likeliest first: more would not be looked at."""
_SHELF = 8
"""Notes of one folder below the memory from which on they are about things of one kind."""
_EVERY = 50
"""Notes or groups between two steps."""
MAX_RELATED = 200
"""Related statements of a memory."""
_MOST_RELATED_NOTES = 1_000
"""Notes, the last that changed, whose statements are related to those of others."""
_MOST_OF_TWO_NOTES = 2
"""Related statements of two notes: the next ones are mostly about the same."""
_WIDEST_RELATED = 400
"""Letters of a related statement with what is said beside it."""

Step = Callable[[], None]


@dataclass
class _Cache:
    """The results for a memory at one moment."""

    texts: dict[str, bytes] = field(default_factory=dict)
    digests: dict[str, NoteDigest] = field(default_factory=dict)
    groups: dict[str, frozenset[Place]] = field(default_factory=dict)
    """The places of the claims by subject and relation."""
    opposed: dict[str, tuple[OpposedStatements, ...]] = field(default_factory=dict)
    """The contradictions of each group."""
    repeating: dict[Paths, Relation] = field(default_factory=dict)
    index: StatementIndex = field(default_factory=StatementIndex)
    nearest: dict[Place, tuple[NearStatement, ...]] = field(default_factory=dict)
    """What is nearest to the statements of the notes that changed last."""
    needs_names: bool = False
    """Whether only claims about named things are reported: each note has a subject of its own."""

    @cached_property
    def codes(self) -> frozenset[str]:
        """The short codes that are names in the memory."""
        return frozenset(code for digest in self.digests.values() for code in digest.codes)

    @cached_property
    def _folders(self) -> Counter[str]:
        return Counter(map(dirname, self.digests))

    def are_of_one_kind(self, one: str, other: str) -> bool:
        """Return whether two notes are pages of one folder with many: each has a subject of its
        own, which its statements seldom name.
        """
        folder = dirname(one)
        return bool(folder) and folder == dirname(other) and self._folders[folder] >= _SHELF

    @property
    def rarity(self) -> float:
        """How much rarer contradictions are among its statements than among chosen pairs, as log
        odds.
        """
        return min(_RAREST, _RARER * log(max(self.index.size, _FEWEST) / _FEWEST))


class NoteComparer:
    """Compares the notes of one memory after each change. Not thread-safe."""

    def __init__(self) -> None:
        self._known = _Cache()
        self._judged: tuple[OpposedStatements, ...] = ()
        self._archive = Archive()

    def pairs(self, memory: Memory, step: Step = lambda: None) -> tuple[NotePair, ...]:
        """Return the notes of `memory` that repeat or contradict each other, ordered by path; then
        the candidates, the likeliest first. Archived notes are not compared.

        `step` is called every few milliseconds; when it raises, the cache stays as it was.
        """
        notes = _list_notes(memory)
        for path in self._archive.find(memory):
            notes.pop(path, None)
        known = self._known
        changed = {p for p, note in notes.items() if known.texts.get(p) != note.raw}
        gone = known.texts.keys() - notes.keys()
        if changed or gone:
            with pause_gc():
                needs_names = bool(memory.layout.page_folder) or memory.layout.is_plain
                known = _update(known, notes, changed, gone, needs_names, step)
                changes = self._known, changed.union(gone)
                judged = tuple(_judge_nearest(known, notes, changes, step))
            self._known, self._judged = known, judged
        opposed = {
            it
            for group in self._known.opposed.values()
            for it in group
            if not it.code or it.code in self._known.codes
        }
        told = {it.paths for it in opposed}
        opposed.update(
            it for it in self._judged if it.opposition.is_certain and it.paths not in told
        )
        templates = _Templates(self._known)
        paths = {it.paths for it in (*opposed, *self._judged)}
        meant = {it for it in paths if _differ_on_purpose(*(notes[path] for path in it))}
        opposed = {it for it in opposed if it.paths not in meant}
        likely = (it for it in self._judged if not it.opposition.is_certain)
        return select_pairs(
            drop_lists(it for it in opposed if not templates.have_fields(it)),
            (it for it in likely if it.paths not in meant),
            self._known.repeating,
        )


def find_related(memory: Memory, step: Step = lambda: None) -> tuple[NotePair, ...]:
    """Return pairs of statements of `memory` that are most likely to be about one thing, the
    likeliest contradiction first, at most MAX_RELATED. They are too many for a person: about two of
    a hundred contradict each other, as a model can judge. Some are those that `NoteComparer` finds.
    `step` is called every few milliseconds.
    """
    notes = _list_notes(memory)
    for path in Archive().find(memory):
        notes.pop(path, None)
    with pause_gc():
        known = _build_cache(notes, step)
        templates, counts = _Templates(known), Counter[Paths]()
        found: list[OpposedStatements] = []
        recent = nlargest(_MOST_RELATED_NOTES, notes.values(), key=_get_last_change)
        nearest = _list_nearest(known, notes, recent, (_Cache(), notes.keys()), step)
        for pairs in nearest.values():
            step()
            judged = (_relate(known, *sorted(pair)) for pair in pairs)
            found += [it for it in judged if it and not templates.have_fields(it)]
    related: list[NotePair] = []
    for it in sorted(keep_plainest(_step_through(dict.fromkeys(found), step)), key=rank):
        counts[it.paths] += 1
        is_more = counts[it.paths] <= _MOST_OF_TWO_NOTES
        if is_more and not _differ_on_purpose(*(notes[path] for path in it.paths)):
            related.append(make_pair(Relation.MAY_CONTRADICT, it))
            if len(related) == MAX_RELATED:
                break
    return tuple(related)


def _step_through(
    statements: Iterable[OpposedStatements], step: Step
) -> Iterator[OpposedStatements]:
    """Yield the statements, with a step before each: judging one takes a millisecond."""
    for it in statements:
        step()
        yield it


def _differ_on_purpose(one: Note, other: Note) -> bool:
    """Return whether what two notes say differs on purpose: versions of one document, or a note
    that says that another one took its place.
    """
    return are_versions(one.path, other.path) or is_superseded(one) or is_superseded(other)


def _list_notes(memory: Memory) -> dict[str, Note]:
    """Return the notes that can be compared, by path."""
    return {it.path: it for it in memory.notes if it.role is FileRole.NOTE and it.is_readable}


def _build_cache(notes: Mapping[str, Note], step: Step) -> _Cache:
    """Return the digests of some notes and their index."""
    digests: dict[str, NoteDigest] = {}
    for number, (path, note) in enumerate(notes.items()):
        if not number % _EVERY:
            step()
        digests[path] = build_digest(note)
    index = StatementIndex().update({}, digests, digests.keys(), step)
    return _Cache(digests=digests, index=index)


def _select_recent(notes: Mapping[str, Note]) -> list[Note]:
    """Return the notes that changed last, whose statements are judged after each change."""
    count = MAX_RECENT if len(notes) <= _MANY else MAX_RECENT // 3
    return nlargest(count, notes.values(), key=_get_last_change)


def _get_last_change(note: Note) -> tuple[float, str]:
    """Return the sort key of a note by its last change."""
    return note.facts.modified, note.path


class _Templates:
    """Knows which statements are fields of a template, which each note fills in for its own
    subject.
    """

    def __init__(self, known: _Cache) -> None:
        self._digests, self._counts = known.digests, known.index.forms

    def have_fields(self, it: OpposedStatements) -> bool:
        """Return whether two statements are the same field, in notes that share several."""
        one, other = (self._digests[path] for path in it.paths)
        mine = dict(zip(one.statements, one.subjects, strict=True)).get(it.left)
        its = dict(zip(other.statements, other.subjects, strict=True)).get(it.right)
        if not mine or mine != its:
            return False
        common = {words for words in one.subjects if words} & set(other.subjects)
        return (
            len(common) >= _FIELDS and sum(self._counts[it] >= _FIELDS for it in common) >= _FIELDS
        )


def _update(
    before: _Cache,
    notes: Mapping[str, Note],
    changed: set[str],
    gone: Collection[str],
    needs_names: bool,
    step: Step,
) -> _Cache:
    digests = {path: it for path, it in before.digests.items() if path in notes}
    known = _Cache({path: note.raw for path, note in notes.items()}, digests)
    known.needs_names = needs_names
    touched = changed.union(gone)
    groups: dict[str, set[Place]] = defaultdict(set)
    left: dict[str, set[Place]] = defaultdict(set)
    for path in touched & before.digests.keys():
        for key, place in list_keys(path, before.digests[path]):
            left[key].add(place)
    for number, path in enumerate(sorted(changed)):
        if not number % _EVERY:
            step()
        digests[path] = build_digest(notes[path])
        for key, place in list_keys(path, digests[path]):
            groups[key].add(place)
    compared: dict[tuple[Place, Place], OpposedStatements | None] = {}
    known.groups, known.opposed = dict(before.groups), dict(before.opposed)
    for number, key in enumerate(sorted(groups.keys() | left.keys())):
        if not number % _EVERY:
            step()
        places = (known.groups.get(key, frozenset()) - left[key]) | groups[key]
        known.groups[key] = places
        known.opposed[key] = tuple(_compare_group(known, places, compared))
        if not known.opposed[key]:
            del known.opposed[key]
        if not places:
            del known.groups[key]
    known.repeating = {
        paths: it for paths, it in before.repeating.items() if touched.isdisjoint(paths)
    }
    known.repeating |= _find_repeating(known, notes, changed, step)
    known.index = before.index.update(before.digests, digests, touched, step)
    return known


def list_keys(path: str, digest: NoteDigest) -> Iterator[tuple[str, Place]]:
    """Yield the groups to which the claims of a note belong."""
    for number, statement in enumerate(digest.statements):
        if digest.may_exclude[number] and is_bound(statement.text):
            for key in _group_keys(read_claim(statement.text)):
                yield key, Place(path, number)
    for number, (fact, *_) in enumerate(digest.facts):
        yield f"{fact.subject}|fact {fact.relation}", Place(path, ~number)


def _group_keys(claim: Claim) -> Iterator[str]:
    """Yield the groups of a claim: a word of its subject with each of its relations."""
    kinds = set(claim.relations)
    for value in claim.values:
        kinds.update([kind.name for kind, _ in value.classes] or [value.kind])
    if claim.usage:
        kinds.add("usage")
    single = claim.keys & load_words("single")
    things = {str(it.key) if it.classes else it.kind for it in claim.values}
    words = claim.keys | things | {claim.person}
    yield from (f"{word}|{kind}" for word in words for kind in kinds)
    yield from (f"{word}|" for word in single)
    yield from (f"{word}|" for word in claim.keys if is_ticket(word))


def _compare_group(
    known: _Cache,
    places: frozenset[Place],
    compared: dict[tuple[Place, Place], OpposedStatements | None],
) -> Iterator[OpposedStatements]:
    """Yield the contradictions within a group; none in a crowd, which is a list."""
    if 1 < len(places) <= CROWD:
        for pair in combinations(sorted(places), 2):
            if pair not in compared:
                compared[pair] = _oppose(known, *pair)
            if (found := compared[pair]) is not None:
                yield found


def _are_far_apart(known: _Cache, one: Place, other: Place) -> bool:
    """Return whether so many words differ that two claims are about two subjects."""
    texts = [known.digests[it.path].statements[it.number].text for it in (one, other)]
    mine, its = map(read_claim, texts)
    if len(mine.keys ^ its.keys) <= _FARTHEST or (mine.usage and its.usage):
        return False
    return not all(map(has_ticket, texts))


def _oppose(known: _Cache, one: Place, other: Place) -> OpposedStatements | None:
    """Return how two places, in their order, surely contradict each other; None where they do not
    or are of one note.
    """
    if one.path == other.path or (one.number >= 0 and _are_far_apart(known, one, other)):
        return None
    digests = known.digests[one.path], known.digests[other.path]
    paths = one.path, other.path
    if one.number < 0:
        left, right = (
            it.facts[~at] for it, at in zip(digests, (one.number, other.number), strict=True)
        )
        if _is_reopened(left, right):
            return None
        found = oppose_facts(left.fact, right.fact)
        return found and OpposedStatements(
            paths, left.statement, right.statement, found, left.fact.code
        )
    if known.are_of_one_kind(*paths):
        return None
    mine, its = (
        it.statements[at] for it, at in zip(digests, (one.number, other.number), strict=True)
    )
    # two descriptions name the subjects of notes; they state no facts
    if mine.in_frontmatter and its.in_frontmatter:
        return None
    found = oppose_reliably(mine.text, its.text, needs_name=known.needs_names)
    return found and OpposedStatements(paths, mine, its, found)


def _judge(known: _Cache, one: Place, other: Place, rarity: float) -> OpposedStatements | None:
    """Return how two statements of two notes, with what is said beside them, contradict each other,
    or may.
    """
    one, other = sorted((one, other))
    mine, its = (known.digests[it.path].statements[it.number] for it in (one, other))
    if mine.in_frontmatter and its.in_frontmatter:
        return None
    left, right = (known.digests[it.path].passages[it.number] for it in (one, other))
    if share_fact(left, right):
        # compared with their days
        return None
    found = judge_reliably(left, right, rarity=rarity)
    if found is None:
        return None
    if known.needs_names or known.are_of_one_kind(one.path, other.path):
        found = found._replace(is_certain=False)
    return OpposedStatements((one.path, other.path), mine, its, found, passages=(left, right))


def _relate(known: _Cache, one: Place, other: Place) -> OpposedStatements | None:
    """Return two statements of two notes, in their order, where they are likely to be about one
    thing, and how they may contradict each other; None where they are not.
    """
    mine, its = (known.digests[it.path].statements[it.number] for it in (one, other))
    left, right = (known.digests[it.path].passages[it.number] for it in (one, other))
    if mine.in_frontmatter and its.in_frontmatter:
        return None
    if share_fact(left, right):
        return None
    found = relate_statements(left, right, _WIDEST_RELATED)
    return found and OpposedStatements(
        (one.path, other.path), mine, its, found, passages=(left, right)
    )


def _is_reopened(left: QuotedFact, right: QuotedFact) -> bool:
    """Return whether the later of two facts says that something is open again."""
    if not (left.day and right.day) or left.day == right.day:
        return False
    return max(left, right, key=lambda it: it.day).fact.is_open


def _judge_nearest(
    known: _Cache, notes: Mapping[str, Note], changes: tuple[_Cache, Collection[str]], step: Step
) -> Iterator[OpposedStatements]:
    """Yield what contradicts the statements of the notes that changed last, or may: of each the
    nearest others by words. `changes` has what was known before, and the paths of the notes that
    are others since.
    """
    templates, rarity = _Templates(known), known.rarity
    found: dict[str, list[OpposedStatements]] = {}
    recent = _select_recent(notes)
    step()
    for path, pairs in _list_nearest(known, notes, recent, changes, step).items():
        step()
        judged = (_judge(known, one, other, rarity) for one, other in pairs)
        found[path] = keep_plainest(it for it in judged if it and not templates.have_fields(it))
    alone = set(drop_lists({it for of_note in found.values() for it in of_note}))
    yield from sorted((it for it in alone if it.opposition.is_certain), key=rank)
    likeliest = {
        it
        for of_note in found.values()
        for it in nsmallest(
            _MOST_OFFERED,
            {it for it in of_note if it in alone and not it.opposition.is_certain},
            key=rank,
        )
    }
    yield from nsmallest(_MOST_IN_ALL, likeliest, key=rank)


def _list_nearest(
    known: _Cache,
    notes: Mapping[str, Note],
    recent: Iterable[Note],
    changes: tuple[_Cache, Collection[str]],
    step: Step,
) -> dict[str, list[tuple[Place, Place]]]:
    """Return for each of the `recent` of the notes which statements are judged with which of other
    notes.
    """
    near: dict[str, list[tuple[int, Place, Place]]] = defaultdict(list)
    known.nearest = _find_nearest(known, {it.path for it in recent}, changes, step)
    for place, others in known.nearest.items():
        near[place.path] += [(it.weight, place, it.place) for it in others]
    generated = {path for path in near if is_generated(notes[path])}
    return {
        path: [
            (one, other)
            for _, one, other in nlargest(_MOST_JUDGED, pairs)
            if not {one.path, other.path} <= generated
        ]
        for path, pairs in near.items()
    }


def list_judged(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield the passages that are judged with each other in `memory`."""
    notes = _list_notes(memory)
    known = _build_cache(notes, lambda: None)
    recent = _select_recent(notes)
    near = _list_nearest(known, notes, recent, (_Cache(), notes.keys()), lambda: None)
    for one, other in dict.fromkeys(tuple(sorted(it)) for them in near.values() for it in them):
        left, right = (known.digests[it.path].passages[it.number] for it in (one, other))
        yield left, right


def _find_nearest(
    known: _Cache, recent: Collection[str], changes: tuple[_Cache, Collection[str]], step: Step
) -> dict[Place, tuple[NearStatement, ...]]:
    """Return for each statement of some notes those of others that share the most words. They are
    the same as before as long as all its rare words are.
    """
    before, changed = changes
    found: dict[Place, tuple[NearStatement, ...]] = {}
    for path in sorted(recent):
        step()
        for number, words in enumerate(known.digests[path].subjects):
            place = Place(path, number)
            last = before.nearest.get(place) if path not in changed else None
            if last is None or not known.index.touched.isdisjoint(words):
                last = known.index.find_nearest(path, words)
            found[place] = last
    return found


def _find_repeating(
    known: _Cache, notes: Mapping[str, Note], changed: Collection[str], step: Step
) -> dict[Paths, Relation]:
    step()
    if len(changed) == len(notes):
        todo = sorted(find_candidates(known.digests))
    else:
        todo = sorted(
            {
                (min(path, it), max(path, it))
                for path in changed
                for it in find_candidates_for(known.digests[path], known.digests)
                if it != path
            }
        )
    found: dict[Paths, Relation] = {}
    if not todo:
        return found
    templates = find_templates(known.digests, {path for paths in todo for path in paths})
    for one, other in todo:
        step()
        digests = known.digests[one], known.digests[other]
        relation = compare_notes(notes[one], notes[other], digests, templates)
        if known.needs_names and relation and not may_be_one_page(notes[one], notes[other]):
            relation = Relation.MAY_REPEAT
        if relation is not None:
            found[one, other] = relation
    return found
