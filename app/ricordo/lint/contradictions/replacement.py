"""The values that one statement replaces in another, and the places where a text names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ricordo.lexicon import lower_text
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.compare import oppose_texts
from ricordo.lint.contradictions.plain_words import TOKEN, normalise, strip_markup
from ricordo.patterns import compile_lazily
from ricordo.search.words import stem_word

_WIDEST = 3
"""Words of a value."""
_IN_FIGURE = compile_lazily(r"(?<=\d)[,'’](?=\d)")


class ReplacedValue(NamedTuple):
    """A value of one statement and its replacement in the other."""

    old: str
    new: str


class _Token(NamedTuple):
    key: str
    """The stem; digits for a number word."""
    start: int
    end: int


def find_replaced_values(old: str, new: str) -> tuple[ReplacedValue, ...]:
    """Return the values of the statement `old` that `new` does not name, with their replacements;
    none where the statements differ in more than values.
    """
    found = oppose_texts(old, new)
    named = [
        ReplacedValue(_written(old, left), _written(new, right))
        for left, right in (found.difference.list_values() if found else ())
    ]
    return tuple(it for it in named or _span(old, new) if not find_named_value(new, [it]))


def find_named_value(text: str, values: Iterable[ReplacedValue]) -> str:
    """Return the first of the old values that `text` names, in any spelling of its numbers; ""
    where it names none.
    """
    plain = normalise(strip_markup(text))
    tokens = _tokens(plain)
    return next((it.old for it in values if _places(tokens, it.old)), "")


def replace_values(text: str, values: Iterable[ReplacedValue]) -> str:
    """Return `text` with the old values replaced by the new ones."""
    for old, new in values:
        for start, end in reversed(_places(_tokens(text), old)):
            text = text[:start] + _cased(new, text[start]) + text[end:]
    return text


def _cased(value: str, like: str) -> str:
    """Return a value that begins with a number word in the case of `like`: it may come from the
    beginning of a sentence.
    """
    if value.split()[0].lower() not in known.load_numbers():
        return value
    first = value[0].upper() if like.isupper() else value[0].lower()
    return first + value[1:]


def _written(text: str, value: str) -> str:
    """Return a value as it is written in a text."""
    found = _places(_tokens(text), value)
    return text[found[0][0] : found[0][1]] if found else value


def _span(old: str, new: str) -> list[ReplacedValue]:
    """Return the only words that differ, where all others are the same."""
    mine, theirs = _tokens(old), _tokens(new)
    keys = [it.key for it in mine], [it.key for it in theirs]
    steps = SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
    others = [it for it in steps if it[0] != "equal"]
    if len(others) != 1 or others[0][0] != "replace":
        return []
    _, start, end, start_new, end_new = others[0]
    if max(end - start, end_new - start_new) > _WIDEST:
        return []
    return [ReplacedValue(_cut(old, mine[start:end]), _cut(new, theirs[start_new:end_new]))]


def _cut(text: str, tokens: Sequence[_Token]) -> str:
    return text[tokens[0].start : tokens[-1].end]


def _places(tokens: Sequence[_Token], value: str) -> list[tuple[int, int]]:
    """Return the places where the words of a value follow each other."""
    wanted = [it.key for it in _tokens(value)]
    count = len(wanted)
    return [
        (tokens[at].start, tokens[at + count - 1].end)
        for at in range(len(tokens) - count + 1 if wanted else 0)
        if [it.key for it in tokens[at : at + count]] == wanted
    ]


def _tokens(text: str) -> list[_Token]:
    """Return the words of a text. A figure with a thousands separator is one: to replace a part of
    it would make a figure that nobody wrote.
    """
    lowered = lower_text(text)
    tokens: list[_Token] = []
    for match in TOKEN.finditer(lowered):
        start, end = match.span()
        if tokens and tokens[-1].end == start - 1 and _IN_FIGURE.match(lowered, start - 1):
            start = tokens.pop().start
        tokens.append(_Token(_key(lowered[start:end]), start, end))
    return tokens


def _key(token: str) -> str:
    return stem_word(known.load_numbers().get(token, token))
