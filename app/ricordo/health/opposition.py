"""Whether two short statements say of one thing what cannot both hold.

Only plain cases are told: the one denies what the other says, or both are built alike and differ
in a single value, a number, or a word and its opposite. All else counts as compatible, for a
correction that is missed costs less than one that is invented.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import NamedTuple

from ricordo.health.vocabulary import compiled, expressions, lowered

_LONGEST = 400
"""Characters; what is longer is no single statement."""
_WIDEST = 3
"""Words of a value."""
_ALIKE = 5
"""Characters that forms of one word share at their beginning."""
_TOKEN = re.compile(r"[^\W_]+(?:[.:/@,-]+[^\W_]+)*%?|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SHORT_NOT = re.compile(r"n['’]t\b")
_NUMBER = re.compile(r"\d[\d.,:/-]*(?:%|am|pm|k|m|kb|mb|gb|s|ms)?\Z")


class Claim(NamedTuple):
    """A statement in the form in which it is compared."""

    text: str
    tokens: tuple[str, ...]
    """All its words but denials."""
    words: tuple[str, ...]
    """What it is about, in order, without filling words."""
    is_denied: bool
    is_apart: bool
    """Whether it has its own time or doubt, or tells one of several things."""
    is_binding: bool
    """Whether its verb binds the subject to one value."""


@lru_cache(maxsize=4096)
def read_claim(text: str) -> Claim:
    """Return the claim that a short `text` makes."""
    plain = _SHORT_NOT.sub(" not", lowered(text[:_LONGEST]))
    all_tokens = [_numbers().get(token, token) for token in _TOKEN.findall(plain)]
    tokens = tuple(token for token in all_tokens if token not in _words("negation"))
    is_denied = (len(all_tokens) - len(tokens)) % 2 == 1
    kept = tuple(token for token in tokens if token not in _words("filler"))
    is_apart, is_binding = _apart().search(plain), _binding().search(plain)
    return Claim(plain, tokens, kept, is_denied, bool(is_apart), bool(is_binding))


def exclude_each_other(left: str, right: str) -> bool:
    """Say whether the two statements cannot both hold."""
    return bool(left and right) and _exclude(read_claim(left), read_claim(right))


def _exclude(one: Claim, other: Claim) -> bool:
    differences = _differences(one, other)
    common = len(one.words) - sum(len(mine) for mine, _ in differences)
    if one.is_denied != other.is_denied:
        return not differences and common >= 2
    if not differences:
        return _is_turned_round(one, other)
    return common >= 1 and len(differences) == 1 and _is_one_value(*differences[0], one, other)


def _is_one_value(mine: Sequence[str], theirs: Sequence[str], one: Claim, other: Claim) -> bool:
    if not mine or not theirs or max(len(mine), len(theirs)) > _WIDEST:
        return False
    if not _words("filler").isdisjoint((*mine, *theirs)):
        return False
    if (mine[0], theirs[0]) in _opposites():
        return len(mine) == len(theirs) == 1
    if one.is_apart or other.is_apart:
        return False
    if all(_NUMBER.match(word) for word in (*mine, *theirs)):
        return not _counts(one, mine)
    return _is_bound(one, mine) and _is_bound(other, theirs)


def _counts(claim: Claim, value: Sequence[str]) -> bool:
    """Whether the number tells which one of many is meant, as in `step 3`."""
    at = claim.tokens.index(value[0])
    return at == 0 or claim.tokens[at - 1] in _words("counting")


def _is_bound(claim: Claim, value: Sequence[str]) -> bool:
    """Whether the statement binds its subject to `value`, so that no second value fits."""
    if not claim.is_binding or claim.text.startswith(f"{value[0]} "):
        return False
    closes = claim.words[-len(value) :] == tuple(value)
    takes_several = re.search(r"\b(?:prefers?|wants?)\b", claim.text)
    is_one_of_many = re.search(
        rf"\b(?:is|are|has|have)\s+(?:an?|\w+ing)\s+{re.escape(value[0])}", claim.text
    )
    return not is_one_of_many and not (closes and takes_several)


def _differences(one: Claim, other: Claim) -> list[tuple[Sequence[str], Sequence[str]]]:
    """What stands in one and not in the other, each with what stands in its place."""
    shared = _unified(one.words, other.words)
    mine = [word for word in one.words if word not in shared]
    theirs = [word for word in other.words if word not in shared]
    if not mine and not theirs:
        return []
    if len(mine) == len(theirs) == 1:
        return [(mine, theirs)]
    plain = [shared.get(word, word) for word in other.tokens]
    blocks = SequenceMatcher(None, one.tokens, plain, autojunk=False).get_opcodes()
    pairs = [
        (_core(one.tokens[a:b]), _core(other.tokens[c:d]))
        for tag, a, b, c, d in blocks
        if tag != "equal"
    ]
    pairs = [pair for pair in pairs if pair != ((), ())]
    return pairs if len(pairs) < 2 else _as_one_value(one, other, blocks) or pairs


def _as_one_value(
    one: Claim, other: Claim, blocks: Sequence[tuple[str, int, int, int, int]]
) -> list[tuple[Sequence[str], Sequence[str]]]:
    """What differs as one value of several words, where it closes both statements."""
    changed = [block for block in blocks if block[0] != "equal"]
    value = one.tokens[changed[0][1] :], other.tokens[changed[0][3] :]
    is_short = len(value[0]) == len(value[1]) <= _WIDEST
    has_filler = not _words("filler").isdisjoint(value[0] + value[1])
    return [value] if is_short and not has_filler else []


def _core(tokens: Sequence[str]) -> Sequence[str]:
    """The words of a stretch without the filling ones around them."""
    kept = [at for at, token in enumerate(tokens) if token not in _words("filler")]
    return tuple(tokens[kept[0] : kept[-1] + 1]) if kept else ()


def _unified(left: tuple[str, ...], right: tuple[str, ...]) -> dict[str, str]:
    """The words that both have, in whatever form, as the left one writes them."""
    shared: dict[str, str] = {}
    for word in left:
        for other in right:
            if _same_word(word, other):
                shared[other] = shared[word] = word
    return shared


def _same_word(left: str, right: str) -> bool:
    if left == right:
        return True
    short, long = sorted((left, right), key=len)
    if not (short.isalpha() and long.isalpha()):
        return False
    if long in (short + "s", short + "es"):
        return True
    return len(short) >= _ALIKE and long[:_ALIKE] == short[:_ALIKE] and len(long) - len(short) <= 3


def _is_turned_round(one: Claim, other: Claim) -> bool:
    """Whether the same words say `this over that` and `that over this`."""
    pattern = r"\bover\s+(\w+)"
    mine, theirs = re.search(pattern, one.text), re.search(pattern, other.text)
    return bool(mine and theirs and mine[1] != theirs[1])


@cache
def _words(part: str) -> frozenset[str]:
    return frozenset(expressions("correction", part))


@cache
def _numbers() -> dict[str, str]:
    return dict(pair.split() for pair in expressions("correction", "numbers"))


@cache
def _opposites() -> frozenset[tuple[str, str]]:
    pairs = [pair.split() for pair in expressions("correction", "opposites")]
    return frozenset((a, b) for a, b in pairs) | frozenset((b, a) for a, b in pairs)


@cache
def _binding() -> re.Pattern[str]:
    return compiled("correction", "binding")


@cache
def _apart() -> re.Pattern[str]:
    return compiled("correction", "apart")
