"""The passage of a note that speaks of what was asked. Standard library alone."""

from __future__ import annotations

import re

from ricordo.recall.stem import stem
from ricordo.recall.words import fold, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

WIDTH = 160
"""Characters of a snippet."""
LONGEST = 100_000
"""Characters of a note that are looked through."""

_BLANK = re.compile(r"\s+")


def snippet(
    text: str, stems: Collection[str], width: int = WIDTH
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return about `width` characters of `text`, on one line, in which the most of the `stems`
    stand, and where they do in it; the beginning where none stands anywhere.
    """
    flat = _BLANK.sub(" ", text[:LONGEST]).strip()
    hits = list(_hits(flat, stems))
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


def _hits(flat: str, stems: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield where words of one of the `stems` stand, and which. What begins like a stem is looked
    for first: to stem every word would take fifty times as long.
    """
    if not stems:
        return
    folded = fold(flat)
    if len(folded) != len(flat):
        folded = flat.lower()
    starts = {re.escape(it[: max(3, len(it) - 1)]) for it in stems}
    for found in re.finditer(rf"(?:{'|'.join(sorted(starts))})[^\W_]*", folded):
        known = next((it for word in words(found[0]) if (it := stem(word)) in stems), "")
        at = found.start()
        if known and (not known.isascii() or not folded[at - 1 : at].isalnum()):
            yield at, found.end(), known


def _densest(hits: list[tuple[int, str]], width: int) -> int:
    """Where the stretch begins in which the most different stems stand."""
    best, most = 0, 0
    for number, (start, _) in enumerate(hits):
        within = {it for at, it in hits[number : number + 40] if at < start + width}
        if len(within) > most:
            best, most = start, len(within)
    return best
