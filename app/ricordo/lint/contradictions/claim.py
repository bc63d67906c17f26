"""A short statement parsed for comparison with another: values only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.words import ToolClass
from ricordo.search.words import stem_word


class Word(NamedTuple):
    """A word with meaning, in contrast to filler."""

    key: str
    """The same for all its spellings and forms."""
    text: str
    at: int
    """Its index among all words of the statement."""
    place: str
    """`subject`, `object`, or `scope` for what limits the statement."""
    is_name: bool
    """Whether it is written like names, paths and codes."""


class Number(NamedTuple):
    """A quantity."""

    kind: str
    """The kind of its unit, such as `time`; "" without one."""
    size: float
    text: str
    counts: bool
    """Whether it identifies one of many, as in `step 3`."""
    place: str


class Day(NamedTuple):
    """A date, a day of the week, a month, a time of the day."""

    kind: str
    name: str
    text: str
    place: str


class ClassItem(NamedTuple):
    """A thing of one or more classes of alternatives."""

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
class ParsedClaim:
    """A parsed statement."""

    text: str
    """In lower case, in plain words."""
    words: tuple[Word, ...]
    """Its subject words, in order."""
    rejected: frozenset[str]
    """The keys of what it names as not chosen."""
    numbers: tuple[Number, ...]
    days: tuple[Day, ...]
    tools: tuple[ClassItem, ...]
    opposites: tuple[Opposite, ...]
    is_negated: bool
    modal: str
    """`may`, `need` or ""."""
    quantity: str
    """`all`, `some`, `only` or ""."""
    person: str
    """`user` or `we` where one of them is its subject."""
    has_verb: bool
    generic: frozenset[str]
    """Words for what the whole memory is about, such as `we` and `user`."""

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its words."""
        return frozenset(word.key for word in self.words)

    @cached_property
    def subject(self) -> frozenset[str]:
        """The keys of the words before its verb."""
        spoken = {word.key for word in self.words if word.place == "subject"}
        return frozenset(spoken | {tool.key for tool in self.tools if tool.place == "subject"})

    @cached_property
    def has_values(self) -> bool:
        """Whether it contains anything that is compared as a value."""
        return bool(self.numbers or self.days or self.tools or self.opposites)

    @cached_property
    def is_uncertain(self) -> bool:
        """Whether it is doubtful, a wish, conditional, or about another time than now."""
        return bool(
            known.load_pattern("doubtful").search(self.text)
            or known.load_pattern("elsewhen").search(self.text)
            or self.text.endswith("?")
        )

    @cached_property
    def is_past(self) -> bool:
        """Whether its verb is in the past tense."""
        return bool(known.load_pattern("past").search(self.text))

    @cached_property
    def is_additive(self) -> bool:
        """Whether its subject may have several such values."""
        return bool(known.load_pattern("additive").search(self.text))

    @cached_property
    def verb(self) -> str:
        """The stem of the verb that binds the subject to one value; "" where none does."""
        return stem_word(self._binding)

    @cached_property
    def binding(self) -> str:
        """That verb, or the representative of its synonyms."""
        return known.load_binding_synonyms().get(self._binding, self.verb)

    @cached_property
    def _binding(self) -> str:
        match = known.load_pattern("binding").search(self.text)
        return match.group().split()[0] if match else ""

    @cached_property
    def preposition(self) -> str:
        """The preposition between that verb and its value, as in `lives in`; "" for none."""
        match = known.load_pattern("binding").search(self.text)
        if match is None:
            return ""
        joining = (*match.group().split()[-1:], *self.text[match.end() :].split()[:1])
        return next((word for word in joining if word in known.load_words("scope")), "")

    @cached_property
    def is_manner(self) -> bool:
        """Whether it describes how something is done, such as `in parallel`."""
        return bool(known.load_pattern("manner").search(self.text))

    @cached_property
    def is_form(self) -> bool:
        """Whether it describes the form of something."""
        return not known.load_words("form").isdisjoint(self.text.split())

    @cached_property
    def is_recurring(self) -> bool:
        """Whether it is about an event that may happen again, such as an outage."""
        return bool(
            known.load_pattern("recurring").search(self.text)
            and not known.load_pattern("once").search(self.text)
        )

    @cached_property
    def is_being(self) -> bool:
        """Whether its verb is a form of to be."""
        return bool(known.load_pattern("being").search(self.text))
