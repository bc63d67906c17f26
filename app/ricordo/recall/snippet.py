"""The passage of a note that speaks of what was asked. Standard library alone."""

from __future__ import annotations

import re

from ricordo.recall.stem import stem
from ricordo.recall.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

WIDTH = 160
"""Characters of a snippet."""
LONGEST = 100_000
"""Characters of a note that are looked through."""

_WORD = re.compile(r"[^\W_]+")
_BLANK = re.compile(r"\s+")


def snippet(
    text: str, stems: Collection[str], width: int = WIDTH
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return about `width` characters of `text`, on one line, in which the most of the `stems`
    stand, and where they do in it; the beginning where none stands anywhere.
    """
    flat = _BLANK.sub(" ", text[:LONGEST]).strip()
    hits = [
        (found.start(), found.end(), known)
        for found in _WORD.finditer(flat)
        if (known := _known(found[0], stems))
    ]
    start = _densest([(at, stem_) for at, _, stem_ in hits], width)
    start = flat.rfind(" ", 0, max(0, start - width // 8)) + 1
    end = min(len(flat), start + width)
    before, after = "…" if start else "", "…" if end < len(flat) else ""
    marks = tuple(
        (left - start + len(before), right - start + len(before))
        for left, right, _ in hits
        if left >= start and right <= end
    )
    return before + flat[start:end] + after, marks


def _known(word: str, stems: Collection[str]) -> str:
    return next((it for folded in words(word) if (it := stem(folded)) in stems), "")


def _densest(hits: list[tuple[int, str]], width: int) -> int:
    """Where the stretch begins in which the most different stems stand."""
    best, most = 0, 0
    for number, (start, _) in enumerate(hits):
        within = {it for at, it in hits[number : number + 40] if at < start + width}
        if len(within) > most:
            best, most = start, len(within)
    return best
