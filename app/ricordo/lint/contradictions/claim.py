"""A short statement in the form in which it is compared with another: values only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.words import ToolClass
from ricordo.search.words import stem


class Word(NamedTuple):
    """A word that bears meaning."""

    key: str
    """What all spellings and forms of it share."""
    text: str
    at: int
    """Its place among all words of the statement."""
    place: str
    """`subject`, `object`, or `scope`: what limits the statement."""
    is_name: bool
    """Whether it is written as names, paths and codes are."""


class Number(NamedTuple):
    """A quantity."""

    kind: str
    """Of which kind its unit is, as `time`; "" without one."""
    size: float
    text: str
    counts: bool
    """Whether it tells which one of many is meant, as in `step 3`."""
    place: str


class Day(NamedTuple):
    """A date, a day of the week, a month, a time of the day."""

    kind: str
    name: str
    text: str
    place: str


class ClassItem(NamedTuple):
    """A thing of one or more classes, of which one place takes one."""

    key: str
    text: str
    of: tuple[tuple[ToolClass, str], ...]
    place: str
    at: int


class Opposite(NamedTuple):
    """A word that has an opposite."""

    pair: str
    side: bool
    text: str
    place: str


@dataclass(frozen=True, eq=False)
class Claim:
    """A statement in the form in which it is compared."""

    text: str
    """In lower case, in plain words."""
    words: tuple[Word, ...]
    """What it is about, in order."""
    rejected: frozenset[str]
    """The keys of what it names as not chosen."""
    numbers: tuple[Number, ...]
    days: tuple[Day, ...]
    tools: tuple[ClassItem, ...]
    opposites: tuple[Opposite, ...]
    is_denied: bool
    modal: str
    """`may`, `need` or "": how it is meant."""
    quantity: str
    """`all`, `some`, `only` or ""."""
    who: str
    """Whom it is about, where it says `user` or `we`."""
    has_verb: bool
    generic: frozenset[str]
    """What it names that the memory is about anyway, `we` and `user` among it."""

    @cached_property
    def keys(self) -> frozenset[str]:
        """What the words are about, for comparing subjects."""
        return frozenset(word.key for word in self.words)

    @cached_property
    def subject(self) -> frozenset[str]:
        """The keys of what it speaks of, before its verb."""
        spoken = {word.key for word in self.words if word.place == "subject"}
        return frozenset(spoken | {tool.key for tool in self.tools if tool.place == "subject"})

    @cached_property
    def has_values(self) -> bool:
        """Whether it names anything that is compared as a value."""
        return bool(self.numbers or self.days or self.tools or self.opposites)

    @cached_property
    def is_uncertain(self) -> bool:
        """Whether it is doubt, wish or condition, or tells of another time than now."""
        return bool(
            known.pattern("doubtful").search(self.text)
            or known.pattern("elsewhen").search(self.text)
            or self.text.endswith("?")
        )

    @cached_property
    def is_past(self) -> bool:
        """Whether its verb is a past."""
        return bool(known.pattern("past").search(self.text))

    @cached_property
    def is_additive(self) -> bool:
        """Whether what it says of its subject may be true of another thing as well."""
        return bool(known.pattern("additive").search(self.text))

    @cached_property
    def verb(self) -> str:
        """What all forms share of the verb that binds the subject to one value; "" where none
        does.
        """
        return stem(self._binding)

    @cached_property
    def binding(self) -> str:
        """That verb, or what stands for it where others say the same."""
        return known.same_binding().get(self._binding, self.verb)

    @cached_property
    def _binding(self) -> str:
        found = known.pattern("binding").search(self.text)
        return found.group().split()[0] if found else ""

    @cached_property
    def preposition(self) -> str:
        """What joins that verb to its value, as in `lives in`; "" where nothing does."""
        found = known.pattern("binding").search(self.text)
        if found is None:
            return ""
        joining = (*found.group().split()[-1:], *self.text[found.end() :].split()[:1])
        return next((it for it in joining if it in known.words("scope")), "")

    @cached_property
    def is_manner(self) -> bool:
        """Whether it says how something is done, as `in parallel` does."""
        return bool(known.pattern("manner").search(self.text))

    @cached_property
    def tells_form(self) -> bool:
        """Whether it says as what something is kept or done."""
        return not known.words("form").isdisjoint(self.text.split())

    @cached_property
    def may_recur(self) -> bool:
        """Whether it tells of what happened once and may happen again, as an outage."""
        return bool(
            known.pattern("recurring").search(self.text)
            and not known.pattern("once").search(self.text)
        )

    @cached_property
    def is_being(self) -> bool:
        """Whether its verb is a form of to be."""
        return bool(known.pattern("being").search(self.text))
