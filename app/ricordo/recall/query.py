"""What a person typed to find notes: words, exact phrases, and conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

LONGEST = 2000
"""Characters of a query; what lies beyond is not looked at."""

_PIECE = re.compile(r'(?P<no>-)?(?:"(?P<exact>[^"]+)"|(?P<word>[^\s"]+))')
_CONDITION = re.compile(r"(?P<key>type|is|has|after|before|in):(?P<value>.+)", re.IGNORECASE)


class Condition(NamedTuple):
    """One thing that has to hold of a note."""

    key: str
    """`type`, `is`, `has`, `after`, `before`, `in`, `>` (links to), `<` (linked from), `exact`,
    or `word`.
    """
    value: str
    negated: bool = False


class Query(NamedTuple):
    """A query, taken apart."""

    words: str
    """What is looked for, without the conditions."""
    conditions: tuple[Condition, ...]


def parse(text: str) -> Query:
    """Return what `text` asks for. Anything can be parsed; what is no condition is a word."""
    words: list[str] = []
    conditions: list[Condition] = []
    for piece in _PIECE.finditer(text[:LONGEST]):
        negated, exact, word = bool(piece["no"]), piece["exact"], piece["word"] or ""
        key = _CONDITION.fullmatch(word)
        if exact:
            conditions.append(Condition("exact", exact, negated))
        elif key:
            conditions.append(Condition(key["key"].lower(), key["value"], negated))
        elif word[:1] in ("<", ">") and len(word) > 1:
            conditions.append(Condition(word[0], word[1:], negated))
        elif negated:
            conditions.append(Condition("word", word, True))
        else:
            words.append(word)
    return Query(" ".join(words), tuple(conditions))


def describe(condition: Condition) -> str:
    """Return a condition as it is typed."""
    forms: Mapping[str, str] = {"exact": '"{}"', "word": "{}", ">": ">{}", "<": "<{}"}
    form = forms.get(condition.key, condition.key + ":{}")
    return ("-" if condition.negated else "") + form.format(condition.value)
