"""Compare the settings of two whole sentences: whether they are about one time, one case, one scope
and one topic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from ricordo.lint.contradictions.compared_sentence import (
    ComparedSentence,
    are_forms,
    is_hangul,
    is_vague,
    read_sentence,
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sentences side by side."""

    one: ComparedSentence
    other: ComparedSentence

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
    def are_asserted(self) -> bool:
        """Whether both say that something is so."""
        return all(
            it.claim.is_assertion and not it.text.endswith(("?", "？"))
            for it in (self.one, self.other)
        )


@lru_cache(maxsize=1 << 12)
def compare_sentences(left: str, right: str) -> Comparison:
    """Return the comparison of two statements."""
    return Comparison(read_sentence(left), read_sentence(right))


def _count_shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how many of some words another statement has, in any form."""
    return sum(
        0.5 if is_vague(key) else 1.0
        for key in one
        if key in other or any(are_forms(key, it) for it in other)
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
