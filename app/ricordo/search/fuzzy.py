"""Similarity of texts; the only module that uses rapidfuzz."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

SHORTEST_ERROR = 4
"""Minimum letters of a word in which one typing error is corrected; with twice as many, two are. In
three letters one error turns nearly any word into any other.
"""


def token_set_ratio(left: str, right: str) -> float:
    """Return 0 to 100: how far the words of one text are contained in the other (rapidfuzz's
    `token_set_ratio` over lower-cased words).
    """
    from rapidfuzz import fuzz, utils

    return fuzz.token_set_ratio(left, right, processor=utils.default_process)


def similarity_ratio(left: str, right: str) -> float:
    """Return 0 to 100: the normalised indel similarity of both texts (rapidfuzz's `ratio`)."""
    from rapidfuzz import fuzz

    return fuzz.ratio(left, right)


def find_similar(word: str, known: Sequence[str], most: int) -> list[str]:
    """Return those of the `known` words that differ from `word` in at most `most` letters: wrong,
    missing, extra, or exchanged with their neighbour (rapidfuzz's `OSA.distance`); most similar
    first, then those with the same first letter.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    matches = process.extract(word, known, scorer=OSA.distance, score_cutoff=most, limit=None)
    matches.sort(key=lambda match: (match[1], match[0][:1] != word[:1], match[0]))
    return [name for name, _, _ in matches]


def correct_word(word: str, known: Callable[[int], Collection[str]]) -> str:
    """Return the correction of `word`: the word itself if it is known, a number, or too short to
    correct; "" if no known word is similar. `known` returns the words with so many letters.
    """
    length = len(word)
    if length < SHORTEST_ERROR or not word.isalpha() or word in known(length):
        return word
    most = 1 + (length >= 2 * SHORTEST_ERROR)
    lengths = range(length - most, length + most + 1)
    similar = find_similar(word, [other for letters in lengths for other in known(letters)], most)
    return similar[0] if similar else ""
