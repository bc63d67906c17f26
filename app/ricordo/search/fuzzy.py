"""How alike two texts are: the one door to rapidfuzz."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

SHORTEST_ERROR = 4
"""Letters of a word in which a typing error is forgiven; in one of twice that, two are. Of three
letters one error makes nearly any word of three out of any other.
"""


def token_set_ratio(left: str, right: str) -> float:
    """Return 0 to 100: how far the words of one text are contained in the other (rapidfuzz's
    `token_set_ratio` over lower-cased words).
    """
    from rapidfuzz import fuzz, utils

    return fuzz.token_set_ratio(left, right, processor=utils.default_process)


def ratio(left: str, right: str) -> float:
    """Return 0 to 100: how much of both texts stands in the same order in the other (rapidfuzz's
    `ratio`, the normalised indel similarity).
    """
    from rapidfuzz import fuzz

    return fuzz.ratio(left, right)


def spelled_alike(word: str, known: Sequence[str], most: int) -> list[str]:
    """Return those of the `known` words that differ from `word` in at most `most` letters that
    are wrong, missing, too many, or exchanged with their neighbour (rapidfuzz's `OSA.distance`);
    the likest first, and of those the ones that begin alike.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extract(word, known, scorer=OSA.distance, score_cutoff=most, limit=None)
    found.sort(key=lambda it: (it[1], it[0][:1] != word[:1], it[0]))
    return [name for name, _, _ in found]


def corrected(word: str, known: Callable[[int], Collection[str]]) -> str:
    """Return which word was meant by `word`: itself where it is known, a number, or too short for
    a typing error to be forgiven; "" where none is spelled like it. `known` gives the words of so
    many letters.
    """
    length = len(word)
    if length < SHORTEST_ERROR or not word.isalpha() or word in known(length):
        return word
    most = 1 + (length >= 2 * SHORTEST_ERROR)
    near = [it for letters in range(length - most, length + most + 1) for it in known(letters)]
    alike = spelled_alike(word, near, most)
    return alike[0] if alike else ""
