"""The values in which two statements differ, as they are written, and where else they are said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ricordo.health.conflicts import words as known
from ricordo.health.conflicts.differences import differences
from ricordo.health.conflicts.plain import TOKEN, plain_of, without_marks
from ricordo.health.conflicts.reading import read_claim
from ricordo.health.vocabulary import lowered
from ricordo.recall.stem import stem

_WIDEST = 3
"""Words of a value."""


class Value(NamedTuple):
    """What the one statement has in the place of what the other has."""

    old: str
    new: str


class _Token(NamedTuple):
    key: str
    """What its forms share; digits for a number word."""
    start: int
    end: int


def values_of(old: str, new: str) -> tuple[Value, ...]:
    """Return the values of the statement `old` that `new` does not name, each with what stands in
    its place there; none where the statements differ in more than values.
    """
    found = differences(read_claim(old), read_claim(new)).found
    named = [
        Value(_written(old, left), _written(new, right))
        for it in found
        for left, right in zip(it.left.split(", "), it.right.split(", "), strict=False)
    ]
    return tuple(it for it in named or _span(old, new) if not says(new, [it]))


def says(text: str, values: Iterable[Value]) -> str:
    """Return the first of the old values that `text` names, in any spelling of its numbers; ""
    where it names none.
    """
    plain = plain_of(without_marks(text))
    tokens = _tokens(plain)
    return next((it.old for it in values if _places(tokens, it.old)), "")


def with_new(text: str, values: Iterable[Value]) -> str:
    """Return `text` with the new values in the places of the old ones."""
    for old, new in values:
        for start, end in reversed(_places(_tokens(text), old)):
            text = text[:start] + _cased(new, text[start]) + text[end:]
    return text


def _cased(value: str, like: str) -> str:
    """A value that begins with a number in words, in the case of the letter in its place: it may
    come from the beginning of a sentence.
    """
    if value.split()[0].lower() not in known.numbers():
        return value
    first = value[0].upper() if like.isupper() else value[0].lower()
    return first + value[1:]


def _written(text: str, value: str) -> str:
    """A value as it stands in a text."""
    found = _places(_tokens(text), value)
    return text[found[0][0] : found[0][1]] if found else value


def _span(old: str, new: str) -> list[Value]:
    """What stands in the place of one another where all else is the same."""
    mine, theirs = _tokens(old), _tokens(new)
    keys = [it.key for it in mine], [it.key for it in theirs]
    steps = SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
    others = [it for it in steps if it[0] != "equal"]
    if len(others) != 1 or others[0][0] != "replace":
        return []
    _, start, end, start_new, end_new = others[0]
    if max(end - start, end_new - start_new) > _WIDEST:
        return []
    return [Value(_cut(old, mine[start:end]), _cut(new, theirs[start_new:end_new]))]


def _cut(text: str, tokens: Sequence[_Token]) -> str:
    return text[tokens[0].start : tokens[-1].end]


def _places(tokens: Sequence[_Token], value: str) -> list[tuple[int, int]]:
    """Where the words of a value stand one behind the other."""
    wanted = [it.key for it in _tokens(value)]
    count = len(wanted)
    return [
        (tokens[at].start, tokens[at + count - 1].end)
        for at in range(len(tokens) - count + 1 if wanted else 0)
        if [it.key for it in tokens[at : at + count]] == wanted
    ]


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(_key(match.group()), match.start(), match.end())
        for match in TOKEN.finditer(lowered(text))
    ]


def _key(token: str) -> str:
    return stem(known.numbers().get(token, token))
