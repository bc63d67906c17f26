"""The passage of a note that speaks of what was asked. Standard library alone."""

from __future__ import annotations

import re

from ricordo.search.words import end_of, fold_with_places, is_unspaced, stem, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ricordo.memory.note import Note

WIDTH = 160
"""Characters of a snippet: about a row of a wide terminal."""
LONGEST = 100_000
"""Characters of a note that are looked through."""

Places = tuple[tuple[int, int], ...]
"""Start and end of each."""
_Hit = tuple[int, int, str]
"""Start and end, and the stem or the part that stands there."""


def snippet(
    text: str, stems: Collection[str], parts: Collection[str] = (), width: int = WIDTH
) -> tuple[str, Places]:
    """Return about `width` characters of `text`, on one line, in which the most of the `stems`
    stand, and where they do in it; the beginning where none stands anywhere. `parts`, folded, are
    looked for where they begin a word, else within words, as far as their own stem stands nowhere.
    """
    flat = " ".join(text[:LONGEST].split())
    hits = _hits(flat, stems, parts)
    start = _densest([(at, meant) for at, _, meant in hits], width)
    start = flat.rfind(" ", 0, max(0, start - width // 8)) + 1
    end = min(len(flat), start + width)
    before, after = "…" if start else "", "…" if end < len(flat) else ""
    shown = ((left, right) for left, right, _ in hits if left >= start and right <= end)
    marks = [(left - start + len(before), right - start + len(before)) for left, right in shown]
    return before + flat[start:end] + after, _joined(marks)


def passage(note: Note, stems: Collection[str], parts: Collection[str] = ()) -> tuple[str, Places]:
    """Return the snippet of the body of a note; that of its description where the description alone
    has what is looked for, or there is no body.
    """
    said, places = snippet(note.body, stems, parts)
    if places:
        return said, places
    described, places = snippet(note.description, stems, parts)
    return (described, places) if places or not said else (said, ())


def _hits(flat: str, stems: Collection[str], parts: Collection[str]) -> list[_Hit]:
    folded, places = fold_with_places(flat)
    found = list(_of_stems(folded, stems))
    met = {meant for _, _, meant in found}
    for part in parts:
        if stem(part) not in met:
            found += _of_part(folded, part)
    found.sort()
    if isinstance(places, range):
        return found
    return [(places[start], end_of(places, end), meant) for start, end, meant in found]


def _joined(marks: Iterable[tuple[int, int]]) -> Places:
    """The `marks`, in their order, as one where they touch: pairs of characters overlap."""
    joined: list[tuple[int, int]] = []
    for start, end in marks:
        if joined and start <= joined[-1][1]:
            start, before = joined.pop()
            end = max(end, before)
        joined.append((start, end))
    return tuple(joined)


def _of_stems(folded: str, stems: Collection[str]) -> Iterator[_Hit]:
    """Yield where words of one of the `stems` stand, and which. What begins like a stem is looked
    for first: to stem every word would take fifty times as long.
    """
    for pair in filter(is_unspaced, stems):
        yield from ((it.start(), it.end(), pair) for it in re.finditer(pair, folded))
    spaced = frozenset(it for it in stems if not is_unspaced(it))
    starts = {re.escape(it[: max(3, len(it) - 1)]) for it in spaced}
    if not starts:
        return
    for found in re.finditer(rf"(?:{'|'.join(sorted(starts))})[^\W_]*", folded):
        said, at = found[0], found.start()
        pieces = [said] if said.isascii() else words(said)
        known = next((it for word in pieces if (it := stem(word)) in spaced), "")
        if known and not folded[at - 1 : at].isalnum():
            yield at, found.end(), known


def _of_part(folded: str, part: str) -> Iterator[_Hit]:
    if not part or (len(part) == 1 and part.isalnum() and not is_unspaced(part)):
        # a single letter stands everywhere
        return
    anywhere = re.escape(part)
    places = list(re.finditer(rf"(?<![^\W_]){anywhere}", folded))
    for found in places or re.finditer(anywhere, folded):
        yield found.start(), found.end(), part


def _densest(hits: list[tuple[int, str]], width: int) -> int:
    """Where the stretch begins in which the most different stems stand."""
    best, most = 0, 0
    for number, (start, _) in enumerate(hits):
        within = {it for at, it in hits[number : number + 40] if at < start + width}
        if len(within) > most:
            best, most = start, len(within)
    return best
