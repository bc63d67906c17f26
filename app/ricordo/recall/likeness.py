"""How alike two texts are: the one door to rapidfuzz."""

from __future__ import annotations

from collections.abc import Sequence


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
    are wrong, missing, too many, or exchanged with their neighbour (rapidfuzz's `OSA.distance`).
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extract(word, known, scorer=OSA.distance, score_cutoff=most, limit=None)
    return [name for name, _, _ in found]
