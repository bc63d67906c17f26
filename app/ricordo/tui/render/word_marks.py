"""Which words of a changed line are other: lines that give way to one another, side by side."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from ricordo.memory.diff import Row, hunks_of_lines

_WORD = re.compile(r"\w+|\s+|[^\w\s]+")
_LEAST_COMMON = 0.4
"""Share of the words of the longer line that both have, below which they are told as two different
lines.
"""
_MOST = 200_000
"""Pairs of words that are compared in one hunk: beyond, nothing more is marked."""

Piece = tuple[str, bool]
"""A stretch of a line, and whether the other line does not have it."""


def marked_words(rows: Sequence[Row]) -> Mapping[int, Sequence[Piece]]:
    """Return, by their number among the `rows` of one hunk, the lines in which single words gave
    way to others, each as its pieces.
    """
    old = [n for n, row in enumerate(rows) if row.sign == "-"]
    new = [n for n, row in enumerate(rows) if row.sign == "+"]
    found: dict[int, Sequence[Piece]] = {}
    left = _MOST
    for before, after in zip(old, new, strict=False):
        texts = [rows[n].text.expandtabs(4) for n in (before, after)]
        one, other = (list(islice(_WORD.findall(text), 1_000)) for text in texts)
        left -= len(one) * len(other)
        if left < 0:
            break
        if sum(map(len, texts)) != sum(map(len, (*one, *other))):
            # longer than what is looked at
            continue
        gone, came = _different(one, other)
        if _shared(one, gone) >= _LEAST_COMMON * max(_shared(one), _shared(other)):
            found[before], found[after] = _pieces(one, gone), _pieces(other, came)
    return found


def _different(one: Sequence[str], other: Sequence[str]) -> tuple[set[int], set[int]]:
    gone: set[int] = set()
    came: set[int] = set()
    for hunk in hunks_of_lines(one, other):
        gone.update(range(hunk.old_start, hunk.old_start + len(hunk.old)))
        came.update(range(hunk.new_start, hunk.new_start + len(hunk.new)))
    return gone, came


def _shared(words: Sequence[str], without: Collection[int] = ()) -> int:
    """Return how many there are, blanks and signs not counted."""
    return sum(word[0].isalnum() for n, word in enumerate(words) if n not in without)


def _pieces(words: Sequence[str], marked: set[int]) -> list[Piece]:
    pieces: list[Piece] = []
    for number, word in enumerate(words):
        is_marked = number in marked
        if pieces and pieces[-1][1] == is_marked:
            pieces[-1] = (pieces[-1][0] + word, is_marked)
        else:
            pieces.append((word, is_marked))
    return pieces
