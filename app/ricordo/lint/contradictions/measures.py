"""Measure what two statements share, what sets them apart and in what they exclude each other.

The measures are numbers of 0 to 1 with a name; `score.py` weighs them. None of them decides alone:
two statements on one subject seldom have the same words, and two on different ones may have most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.claim import Word
from ricordo.lint.contradictions.difference import REJECTED, WORDING, Difference
from ricordo.lint.contradictions.frames import compare_sentences
from ricordo.lint.contradictions.passage import (
    JudgedStatement,
    SharedItem,
    read_passage,
    share_items,
    weigh,
)
from ricordo.lint.contradictions.values import QUANTITIES, TIMES, FreeValue
from ricordo.patterns import compile_lazily

_MOST_SHARED, _MOST_KINDS, _MOST_CONTESTED, _LONGEST = 8.0, 3, 4.0, 40.0
"""What counts as much as more of it."""
_HEAD = 6.0
"""Weight of what is at the beginning of a statement."""
_NAMELIKE = 1.5
"""Weight from which on what is shared is more than a word."""
_SIGNS = (
    *("always", "only", "may", "also", "exception", "condition", "gone", "last", "done", "open"),
    *("ask", "free", "owner", "place"),
)
"""The signs that are measured."""
_OF_BOTH = frozenset(("always", "owner"))
"""Those that say another thing where both give them."""
_EVIDENCE = (
    *("quantity", "number", "when", "contested_name", "contested_value"),
    *("side", "tools", "permission", "hosts"),
)
"""Measures of something that both cannot have."""
_WORD = compile_lazily(r"[\w#!./:@-]*\w")
_SHAPES = (
    ("ticket", compile_lazily(r"#\d+|\w*[A-Za-z]+-\d+|!\d+")),
    ("address", compile_lazily(r"\d+\.\d+\.\d+\.\d+(?::\d+)?|[a-z]{2}-[a-z]+-\d")),
    ("host", compile_lazily(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?")),
    ("path", compile_lazily(r".*/.*")),
)
"""Forms of names; the first that a word has counts."""


@dataclass(frozen=True, eq=False)
class MeasuredPair:
    """Two statements side by side."""

    one: JudgedStatement
    other: JudgedStatement

    @cached_property
    def items(self) -> list[SharedItem]:
        """What both name."""
        return share_items(self.one, self.other)

    @cached_property
    def measures(self) -> Mapping[str, float]:
        """The measures that are not 0."""
        found = dict(self._measure_subject())
        found |= dict(self._measure_setting())
        found |= dict(self._measure_exclusion())
        if any(found.get(name) for name in _EVIDENCE):
            found["evidence"] = 1.0
            if found.get("apart") or found.get("scope"):
                found["evidence_apart"] = 1.0
        return {name: value for name, value in found.items() if value}

    def _measure_subject(self) -> Iterator[tuple[str, float]]:
        """Yield how much of their subjects two statements share."""
        one, other = self.one, self.other
        shared = sum(it.weight for it in self.items)
        yield "shared", min(shared, _MOST_SHARED) / _MOST_SHARED
        yield "covered", min(1.0, shared / max(1.0, min(one.weight, other.weight)))
        yield "nothing", float(shared < 1)
        heads = (
            _cover_head(one, {it.left for it in self.items}),
            _cover_head(other, {it.right for it in self.items}),
        )
        yield "head", min(heads)
        yield "topic", max(heads)
        yield "length", min(one.sentence.size + other.sentence.size, _LONGEST) / _LONGEST
        shapes = _list_shapes(one.sentence.marked), _list_shapes(other.sentence.marked)
        for name in shapes[0].keys() & shapes[1].keys():
            mine, its = shapes[0][name], shapes[1][name]
            if name == "ticket":
                yield "ticket", float(not mine.isdisjoint(its))
            elif mine.isdisjoint(its):
                yield "paths" if name == "path" else "hosts", 1.0

    def _measure_setting(self) -> Iterator[tuple[str, float]]:
        """Yield what sets the subjects of two statements apart."""
        one, other = self.one, self.other
        compared = compare_sentences(one.sentence.marked, other.sentence.marked)
        yield "scope", float(compared.is_other_scope)
        yield "case", float(compared.is_other_case)
        yield "time", float(compared.is_other_time)
        yield "topics", float(compared.has_own_topics)
        yield "instances", float(compared.has_own_instances)
        for name, place in (("subjects", "subject"), ("scopes", "scope")):
            yield name, float(all(any(it.place == place for it in own) for own in self._own_words))
        people = [
            any(it.is_capital and not it.is_code and it.text.isalpha() for it in own)
            for own in self._own_words
        ]
        yield "people", float(all(people))
        kinds = [{it.kind for it in side.subjects if not it.is_side} for side in (one, other)]
        same = apart = partly = 0
        for kind in kinds[0] & kinds[1]:
            mine, its = ({it for it in side.subjects if it.kind == kind} for side in (one, other))
            same += bool(mine & its)
            if mine - its and its - mine:
                partly += bool(mine & its)
                apart += not mine & its
        yield "kinds", min(same, _MOST_KINDS) / _MOST_KINDS
        yield "apart", float(apart > 0)
        yield "far_apart", min(apart, _MOST_KINDS) / _MOST_KINDS
        yield "partly", float(partly > 0)

    @cached_property
    def _own_words(self) -> tuple[list[Word], list[Word]]:
        left, right = ({it.left for it in self.items}, {it.right for it in self.items})
        return (
            [word for key, word in self.one.words.items() if key not in left],
            [word for key, word in self.other.words.items() if key not in right],
        )

    def _measure_exclusion(self) -> Iterator[tuple[str, float]]:
        """Yield in what two statements may exclude each other."""
        one, other = self.one, self.other
        contested = sum(it.weight for it in self._contested)
        agreed = sum(it.weight for it in self.items) - contested
        yield "contested", min(contested, _MOST_CONTESTED) / _MOST_CONTESTED
        yield "contested_name", float(any(it.weight >= _NAMELIKE for it in self._contested))
        yield "contested_share", contested / (contested + agreed) if self.items else 0.0
        yield "contested_beside", float(contested > 0 and agreed >= 1)
        denied = [{it.is_denied for it in side.clauses} for side in (one, other)]
        yield "denied", float(denied[0] == denied[1] == {True})
        yield "affirmed", float(denied[0] == denied[1] == {False})
        yield "side", float(self.side is not None)
        yield "tools", float(self.tools is not None)
        yield from self._measure_values()
        for sign in _SIGNS:
            count = (sign in one.signs) + (sign in other.signs)
            if count:
                yield f"{sign}_both" if count > 1 and sign in _OF_BOTH else sign, 1.0
        strict = frozenset(("always", "only"))
        permits = [
            "may" in mine and "may" not in its and not strict.isdisjoint(its)
            for mine, its in ((one.signs, other.signs), (other.signs, one.signs))
        ]
        yield "permission", float(any(permits))

    def _measure_values(self) -> Iterator[tuple[str, float]]:
        for mine, _, is_denied in self._same_values:
            if mine.kind in QUANTITIES:
                yield "same_quantity", 1.0
            elif mine.kind == "number" and not mine.is_trivial:
                yield "same_number", 1.0
            if is_denied and not mine.is_trivial:
                yield "contested_value", 1.0
        for mine, its in self._other_values:
            if mine.fits(its):
                yield "fits", 1.0
                continue
            name = "quantity" if mine.kind in QUANTITIES else "number"
            yield "when" if mine.kind in TIMES else name, 1.0

    @cached_property
    def _contested(self) -> list[SharedItem]:
        """What one of both affirms and the other one denies."""
        found = []
        for it in self.items:
            mine, its = self.one.get_signs(it.left), self.other.get_signs(it.right)
            if mine and its and mine.isdisjoint(its):
                found.append(it)
        return found

    @cached_property
    def _same_values(self) -> list[tuple[FreeValue, FreeValue, bool]]:
        """The values that both give, each with whether only one of them denies it."""
        return [
            (mine, its, is_denied != other_denied)
            for mine, is_denied in self.one.values
            for its, other_denied in self.other.values
            if mine.kind == its.kind and mine.equals(its)
        ]

    @cached_property
    def _other_values(self) -> list[tuple[FreeValue, FreeValue]]:
        """The values of one kind and name of which both give others, one pair for each."""
        found: list[tuple[FreeValue, FreeValue]] = []
        sides = [_group_values(it) for it in (self.one, self.other)]
        for slot in sorted(sides[0].keys() & sides[1].keys()):
            mine, its = sides[0][slot], sides[1][slot]
            if not any(a.equals(b) for a in mine for b in its):
                pairs = [(a, b) for a in mine for b in its]
                found.append(next((it for it in pairs if it[0].fits(it[1])), pairs[0]))
        return found

    @cached_property
    def side(self) -> tuple[str, str] | None:
        """The sides of an alternative, or the signs, of which each has one; None without any."""
        one, other = self.one, self.other
        for first, second in known.load_sides():
            pair = frozenset((first, second))
            mine, its = one.signs & pair, other.signs & pair
            if len(mine) == len(its) == 1 and mine != its:
                return min(mine), min(its)
        for kind in sorted({it.kind for it in one.subjects if it.is_side}):
            sides = [_list_sides(it, kind) for it in (one, other)]
            if len(sides[0]) == len(sides[1]) == 1 and sides[0] != sides[1]:
                left, right = ("" if min(it) == "one" else "not " for it in sides)
                return f"{left}{kind}", f"{right}{kind}"
        return None

    @cached_property
    def tools(self) -> tuple[str, str, str] | None:
        """The tools of one class of which each affirms another, and the class; None without any."""
        one, other = self.one, self.other
        mine, its = (it.get_tools(is_denied=False) for it in (one, other))
        if mine & its or not (mine and its):
            return None
        if mine & other.get_tools(is_denied=True) or its & one.get_tools(is_denied=True):
            return None
        for a in one.sentence.values:
            for b in other.sentence.values:
                if a.kind == b.kind == "tool" and a.key in mine and b.key in its:
                    names = dict(a.classes)
                    for kind, name in b.classes:
                        if names.get(kind, name) != name:
                            return a.text, b.text, kind.name
        return None

    @cached_property
    def difference(self) -> Difference:
        """In what they differ, the plainest first."""
        for mine, its in self._other_values:
            if not mine.fits(its):
                kind = "date" if mine.kind in TIMES else mine.kind
                return Difference(kind, mine.text, its.text)
        if self.tools is not None:
            return Difference("tool", *self.tools[:2], tool_class=self.tools[2])
        if self.side is not None:
            return Difference("side", *self.side)
        named = [it for it in self._contested if it.weight >= _NAMELIKE] or self._contested
        if named:
            best = max(named, key=lambda it: (it.weight, it.left))
            text = self._write(best)
            return Difference(REJECTED, text, text)
        return Difference(WORDING, "", "")

    def _write(self, item: SharedItem) -> str:
        """Return how the first statement writes what both name."""
        word = self.one.words.get(item.left)
        return word.text if word else item.left


def _cover_head(passage: JudgedStatement, shared: set[str]) -> float:
    """Return how much of what a statement begins with another one has, 0 to 1; the first words
    count most.
    """
    found: dict[str, tuple[int, float]] = {}
    for key, word in passage.words.items():
        at = passage.text.find(word.text)
        found[key] = (at if at >= 0 else len(passage.text), weigh(word))
    for run in passage.runs:
        found[run] = (passage.text.find(run), len(run) / 2)
    total = covered = rank = 0.0
    for key, (_, weight) in sorted(found.items(), key=lambda it: (it[1][0], it[0])):
        share = 1 / (1 + rank)
        rank += weight
        total += share * weight
        if key in shared:
            covered += share * weight
        elif not key.isascii():
            part = sum(len(it) for it in shared if len(it) > 1 and it in key) / 2
            covered += share * min(weight, part)
        if rank > _HEAD:
            break
    return covered / total if total else 0.0


@lru_cache(maxsize=1 << 13)
def _list_shapes(text: str) -> Mapping[str, frozenset[str]]:
    """Return the words of a text that are names by their form."""
    found: dict[str, set[str]] = {}
    for match in _WORD.finditer(text):
        word = match.group()
        for name, pattern in _SHAPES:
            if pattern.fullmatch(word):
                found.setdefault("host" if name == "address" else name, set()).add(word.lower())
                break
    return {name: frozenset(words) for name, words in found.items()}


def _group_values(passage: JudgedStatement) -> Mapping[tuple[str, str], list[FreeValue]]:
    """Return the values by their kind, and plain numbers by each of their names."""
    found: dict[tuple[str, str], list[FreeValue]] = {}
    for value, _ in passage.values:
        for name in value.names or ("",) if value.kind == "number" else ("",):
            if name or value.kind != "number":
                found.setdefault((value.kind, name), []).append(value)
    return found


def _list_sides(passage: JudgedStatement, kind: str) -> frozenset[str]:
    """Return the sides of an alternative that a statement affirms; what is denied is on the other
    side.
    """
    flipped = {"one": "other", "other": "one"}
    return frozenset(
        flipped[it.key] if is_denied else it.key
        for it, signs in passage.subjects.items()
        if it.is_side and it.kind == kind
        for is_denied in signs
    )


@lru_cache(maxsize=1 << 13)
def measure(left: str, right: str) -> MeasuredPair:
    """Return the measures of two statements."""
    return MeasuredPair(read_passage(left), read_passage(right))
