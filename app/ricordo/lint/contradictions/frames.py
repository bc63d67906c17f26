"""Compare whole sentences in free wording: what they share, in what they differ, what keeps them
apart.

Two sentences on one subject seldom have the same words. What counts is what both name, values of
one dimension (units, versions, ports, dates, tools), the sides of an alternative (done or open, to
ask or not to ask), order, owners, places and what only one of them denies; and that they are not
about different cases, times, stages or environments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.compared_sentence import (
    FEW,
    OF_NAME,
    OF_VAGUE,
    OF_WORD,
    ComparedSentence,
    get_last,
    is_hangul,
    is_vague,
    list_keys,
    read_sentence,
)
from ricordo.lint.contradictions.facts import is_ticket
from ricordo.patterns import compile_lazily

_ON_SUBJECT = 2.0
"""Weight of what is shared from which on two sentences surely are on one subject."""
_MOSTLY = 0.4
"""Share of their words from which on two sentences are mostly on one subject."""
_LARGE = 1000.0
_ROUND = 0.08
"""Share in which large quantities may differ: a month is about four weeks of seconds."""
_ALIKE = 5
"""Letters with which two forms of one word begin."""
_PART = 6
"""Letters of a word that is a part of another."""
_YEAR = compile_lazily(r"\d{4}-")
_DECIMAL = compile_lazily(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)*)(?![\w.]*\w)")
_AT_LEAST = compile_lazily(r"\d\+|≥|>=")
_QUANTITIES = frozenset(("bytes", "time", "share", "length", "pixels", "weight", "speed"))
_CURRENCIES = frozenset(("dollars", "euros", "pounds", "yen"))
_EXCLUSIVE = (_QUANTITIES - {"share"}) | _CURRENCIES | {"date", "clock", "weekday"}
"""Kinds of values of which a subject has one."""
LOOSE = ("use", "presence", "side", "place")
"""Kinds of differences that among real notes are mostly between two things: what is denied, chosen
or done, and where something is.
"""
_DATES = ("date", "clock", "weekday", "month", "often")


class FrameDifference(NamedTuple):
    """In what two sentences differ."""

    kind: str
    left: str
    right: str
    is_exclusive: bool = False
    """Whether a subject can have only one of both."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sentences side by side."""

    one: ComparedSentence
    other: ComparedSentence

    @cached_property
    def shared(self) -> tuple[float, int]:
        """The weight of what both name, and the number of its parts."""
        return _weigh_shared(self.one, self.other)

    @property
    def coverage(self) -> float:
        """The share that what both name has of all that the longer one names, 0 to 1."""
        most = max(self.one.weight, self.other.weight)
        return min(1.0, self.shared[0] / most) if most else 0.0

    @cached_property
    def differences(self) -> tuple[FrameDifference, ...]:
        """In what they differ, exclusive values first."""
        found = (
            *_compare_values(self.one, self.other),
            *_compare_sides(self.one, self.other),
            *_compare_use(self.one, self.other),
            *_compare_presence(self.one, self.other),
            *_compare_owners(self.one, self.other),
            *_compare_places(self.one, self.other),
            *_compare_denials(self.one, self.other),
        )
        return tuple(sorted(found, key=lambda it: not it.is_exclusive))

    @property
    def difference(self) -> FrameDifference | None:
        """The first of their differences; without one what only one of them names, if each names
        something.
        """
        if self.differences:
            return self.differences[0]
        left, right = self.one.list_names_beside(self.other), self.other.list_names_beside(self.one)
        if not (left and right):
            return None
        return FrameDifference("value", ", ".join(left), ", ".join(right))

    @property
    def is_other_time(self) -> bool:
        """Whether one of them is about the past, a plan or a change that the other is before."""
        signs = self.one.signs | self.other.signs
        return not signs.isdisjoint(("plan", "update")) or self.one.is_past != self.other.is_past

    @property
    def is_other_case(self) -> bool:
        """Whether they hold under different conditions, or one names an exception."""
        cases = self.one.case, self.other.case
        are_apart = all(cases) and cases[0].isdisjoint(cases[1])
        return are_apart or "exception" in self.one.signs | self.other.signs

    @property
    def is_other_scope(self) -> bool:
        """Whether they are about different environments, stages, branches or periods."""
        return any(
            mine - its and its - mine
            for mine, its in zip(self.one.scopes, self.other.scopes, strict=True)
        )

    @cached_property
    def has_own_instances(self) -> bool:
        """Whether each names its own instance of one kind, such as two services: the same word
        behind different ones.
        """
        one, other = self.one, self.other
        for key in one.words.keys() & other.words.keys():
            mine, its = _qualify(one, key), _qualify(other, key)
            if mine and its and mine not in other.words and its not in one.words:
                return True
        return False

    @cached_property
    def has_own_topics(self) -> bool:
        """Whether neither mentions what the other one is about, nor says something of all."""
        one, other = self.one, self.other
        if "all" in (one.claim.quantity, other.claim.quantity):
            return False
        return bool(one.topic and other.topic) and not (
            _count_shared(one.topic, other.keys) or _count_shared(other.topic, one.keys)
        )

    @property
    def is_same_quantity(self) -> bool:
        """Whether both give the same quantity."""
        return any(
            mine.kind == its.kind and isinstance(mine.key, float) and _are_close(mine.key, its.key)
            for mine in self.one.values
            for its in self.other.values
            if mine.kind in _QUANTITIES
        )

    @cached_property
    def is_on_one_subject(self) -> bool:
        """Whether both assert something on one subject at one time, in one case and scope, and do
        not give the same quantity.
        """
        # what costs most comes last
        return (
            self.are_asserted
            and self.shared[0] > 0
            and not self.is_other_scope
            and not self.is_same_quantity
            and not self.has_own_topics
            and not self.is_other_time
            and not self.is_other_case
        )

    @property
    def are_asserted(self) -> bool:
        """Whether both say that something is so."""
        return all(
            it.claim.is_assertion and not it.text.endswith(("?", "？"))
            for it in (self.one, self.other)
        )

    @property
    def is_short(self) -> bool:
        """Whether both have so few words that they are compared word by word."""
        return max(self.one.size, self.other.size) <= FEW

    def find_exclusive(self) -> FrameDifference | None:
        """Return the difference that excludes one of both, where they surely are about one
        subject; else None.
        """
        if self.is_short or self.shared[0] < OF_WORD or not self.is_on_one_subject:
            return None
        return next((it for it in self.differences if self._is_exclusive(it)), None)

    def _is_exclusive(self, it: FrameDifference) -> bool:
        """Return whether a subject can have only one of both values, and the subject is one."""
        if not it.is_exclusive or self.is_one_case:
            return False
        if it.kind in LOOSE:
            return self.coverage >= _MOSTLY or any(map(self._is_state_of, self._tickets))
        # a version has its subject with it
        if it.kind.startswith("version"):
            return True
        weight, count = self.shared
        if it.kind in _DATES and "deadline" in self.one.signs & self.other.signs:
            return weight >= OF_WORD
        if it.kind == "owner":
            return weight >= OF_WORD and (weight >= _ON_SUBJECT or not self.has_own_instances)
        return weight >= _ON_SUBJECT and (count > 1 or bool(self._tickets))

    @property
    def _tickets(self) -> list[str]:
        """The tickets that both name."""
        both = self.one.codes & self.other.codes | self.one.words.keys() & self.other.words.keys()
        return [it for it in both if is_ticket(it)]

    def _is_state_of(self, ticket: str) -> bool:
        """Return whether the clauses that name a ticket give it a state, each another one."""
        states = frozenset(("done", "open"))
        found = [
            [it.signs & states for it in side.clauses if ticket in it.keys | it.codes]
            for side in (self.one, self.other)
        ]
        mine, its = (frozenset[str]().union(*signs) for signs in found)
        return len(mine) == len(its) == 1 and mine != its

    def is_named(self, kind: str) -> bool:
        """Return whether the subject has a name that is no word, so that a difference of a kind is
        one also where any two of many statements are compared.
        """
        if kind in LOOSE:
            return any(map(self._is_state_of, self._tickets))
        return self.shared[0] > _ON_SUBJECT and bool(self.one.codes & self.other.codes)

    @property
    def is_one_case(self) -> bool:
        """Whether only one of them has a condition, of which the other one says nothing."""
        one, other = self.one, self.other
        if bool(one.case) == bool(other.case) or "default" in one.signs & other.signs:
            return False
        case, its = (one.case, other) if one.case else (other.case, one)
        return not _count_shared(case, its.keys)


@lru_cache(maxsize=1 << 12)
def compare_sentences(left: str, right: str) -> Comparison:
    """Return the comparison of two statements."""
    return Comparison(read_sentence(left), read_sentence(right))


def _count_shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how many of some words another statement has, in any form."""
    return sum(
        0.5 if is_vague(key) else 1.0
        for key in one
        if key in other or any(_are_forms(key, it) for it in other)
    )


def _qualify(sentence: ComparedSentence, key: str) -> str:
    """Return the key of the word right before a word of the subject; "" where there is none."""
    word = sentence.words[key]
    if word.is_name or (word.place != "subject" and not is_hangul(word)):
        return ""
    before = next((it for it in sentence.words.values() if it.at == word.at - 1), None)
    # no particle between them
    is_joined = before and (not is_hangul(word) or f"{before.text} {word.text}" in sentence.text)
    return before.key if before and is_joined else ""


def _weigh_shared(one: ComparedSentence, other: ComparedSentence) -> tuple[float, int]:
    """Return how much two statements share of their subjects, and how many parts that has."""
    weights = [OF_NAME] * len(one.codes & other.codes)
    used: set[str] = set()
    for key, word in one.words.items():
        its = other.words.get(key) or next(
            (it for it in other.words.values() if it.key not in used and _are_forms(key, it.key)),
            None,
        )
        if its is None or its.key in used:
            continue
        used.add(its.key)
        is_named = word.is_name or its.is_name or word.is_code or its.is_code
        weights.append(OF_NAME if is_named else one.weigh(word))
    if one.claim.person and one.claim.person == other.claim.person:
        weights.append(OF_VAGUE)
    weights += [OF_VAGUE if is_vague(it) else OF_WORD for it in one.pieces & other.pieces]
    return sum(weights), len(weights)


def _mentions(sentence: ComparedSentence, about: frozenset[str]) -> bool:
    return not sentence.tokens.isdisjoint(about) or any(
        it in sentence.text for it in about if not it.isascii()
    )


def _are_forms(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if not short:
        return False
    if "\uac00" <= short[0] <= "\ud7af":
        return len(short) > 1 and (short in long or short[:2] == long[:2])
    if not (short.isalpha() and long.isalpha()):
        return False
    return (len(short) >= _PART and short in long) or (
        len(short) >= _ALIKE and short[:_ALIKE] == long[:_ALIKE]
    )


def _compare_values(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield the dimensions of which both give values, none of them the same."""
    mine, its = one.values, other.values
    for kind in dict.fromkeys(it.kind for it in mine if it.kind != "tool"):
        left = [it for it in mine if it.kind == kind]
        right = [it for it in its if it.kind == kind]
        if left and right and not any(_are_close(a.key, b.key) for a in left for b in right):
            is_single = all(len({it.key for it in side}) == 1 for side in (left, right))
            is_exclusive = is_single and (kind in _EXCLUSIVE or kind.startswith("version of"))
            if kind == "date":
                # with its year it is the day of a record, or of what was done then
                is_dated = any(_YEAR.match(it.text) for it in (*left, *right))
                is_exclusive &= not is_dated and "done" not in one.signs | other.signs
            yield FrameDifference(kind, left[0].text, right[0].text, is_exclusive)
    versions = [_list_versions(it) for it in (one, other)]
    pairs = [(a, b) for a in versions[0] for b in versions[1]]
    if pairs and not any(
        f"{a[1]}.".startswith(f"{b[1]}.") or f"{b[1]}.".startswith(f"{a[1]}.") for a, b in pairs
    ):
        named = [(a[1], b[1]) for a, b in pairs if a[0] == b[0]]
        is_exclusive = (
            len(pairs) == 1 and bool(named) and not _AT_LEAST.search(f"{one.text} {other.text}")
        )
        yield FrameDifference(
            "version", *(named or [(versions[0][0][1], versions[1][0][1])])[0], is_exclusive
        )
    ports = [
        frozenset(map(get_last, map(re.Match.groups, known.load_port().finditer(it.text))))
        for it in (one, other)
    ]
    if all(ports) and ports[0].isdisjoint(ports[1]):
        is_exclusive = len(ports[0]) == len(ports[1]) == 1
        yield FrameDifference("port", min(ports[0]), min(ports[1]), is_exclusive)


def _list_versions(sentence: ComparedSentence) -> list[tuple[str, str]]:
    """Return the numbers with a point, each with the key of the last word before it."""
    found: list[tuple[str, str]] = []
    for match in _DECIMAL.finditer(sentence.text):
        before = [key for key in list_keys(sentence.text[: match.start()]) if key]
        found.append((before[-1] if before else "", match[1]))
    return found


def _are_close(one: float | str | bool, other: float | str | bool) -> bool:
    """Return whether two values are the same; large quantities may be rounded."""
    if isinstance(one, float) and isinstance(other, float) and max(one, other) > _LARGE:
        return abs(one - other) <= _ROUND * max(one, other)
    return one == other


def _compare_sides(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield what is on two sides: sides of an alternative, tools of one class, what is done
    first.
    """
    for sides in known.load_sides():
        mine, its = (_find_sides(it, sides) for it in (one, other))
        if mine and its and mine != its:
            left, right = (" ".join(sorted(it)) for it in (mine, its))
            yield FrameDifference("side", left, right, len(mine) == len(its) == 1)
    for a in one.values:
        for b in other.values:
            if a.kind == b.kind == "tool" and a.key not in other.words and b.key not in one.words:
                names = dict(a.classes)
                kind = next((it for it, name in b.classes if names.get(it, name) != name), None)
                if kind is not None:
                    is_exclusive = (
                        len(one.tools) == len(other.tools) == 1
                        and _mentions(one, kind.about)
                        and _mentions(other, kind.about)
                    )
                    yield FrameDifference("tool", a.text, b.text, is_exclusive)
    is_other = bool(one.first and other.first) and one.first.isdisjoint(other.first)
    if is_other and _names(other, one.first) and _names(one, other.first):
        left, right = (" ".join(sorted(it.first)) for it in (one, other))
        yield FrameDifference("order", left, right, is_exclusive=True)


def _compare_use(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield what one statement uses and the other one says not to use."""
    for user, denier in ((one, other), (other, one)):
        commands = {part for it in user.used_names for part in (it, it.split(" ", 1)[0])}
        if commands.isdisjoint(denier.denied_names):
            # the clauses are read only where it matters
            continue
        names = denier.denied_names & user.asserted_names - denier.asserted_names
        if names:
            values = ("in use", "not in use")
            is_exclusive = names.isdisjoint(user.denied_names)
            yield FrameDifference("use", *(values if user is one else values[::-1]), is_exclusive)


def _compare_presence(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield what is there by one statement and not by the other one."""
    for having, lacking in ((one, other), (other, one)):
        absent = (lacking.absent - having.absent) & having.keys
        if absent and absent & having.asserted_keys:
            values = ("there", "not there")
            is_exclusive = "only" not in lacking.signs
            yield FrameDifference(
                "presence", *(values if having is one else values[::-1]), is_exclusive
            )


def _compare_owners(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield the persons who do something by two statements."""
    if "owner" not in one.signs & other.signs or not one.persons.isdisjoint(other.persons):
        return
    if one.persons and other.persons:
        is_exclusive = len(one.persons) == len(other.persons) == 1
        yield FrameDifference("owner", min(one.persons), min(other.persons), is_exclusive)


def _compare_places(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield the places of two statements that say where something is."""
    places = one.places - other.codes, other.places - one.codes
    if all(places) and "place" in one.signs & other.signs:
        left, right = (", ".join(sorted(it)) for it in places)
        yield FrameDifference("place", left, right, is_exclusive=True)


def _compare_denials(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield whether only one of two statements denies something."""
    for sign in ("denial", "gone"):
        if (sign in one.signs) != (sign in other.signs):
            values = ("not", "so")
            yield FrameDifference("negation", *(values if sign in one.signs else values[::-1]))


def _find_sides(sentence: ComparedSentence, sides: tuple[str, str]) -> frozenset[str]:
    """Return on which of two sides a statement is: where it names both, that of its first clause
    with one.
    """
    found = sentence.signs.intersection(sides)
    if len(found) < 2:
        return found
    clauses = (it.signs.intersection(sides) for it in sentence.clauses)
    return next((it for it in clauses if len(it) == 1), found)


def _names(sentence: ComparedSentence, keys: frozenset[str]) -> bool:
    """Return whether a statement has one of some words, in any form."""
    return any(
        it in sentence.words or any(_are_forms(it, key) for key in sentence.words) for it in keys
    )
