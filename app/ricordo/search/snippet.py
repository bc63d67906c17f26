"""Extract the passage of a note that matches a query. Standard library only."""

from __future__ import annotations

import re

from ricordo.search.words import find_end, fold_with_places, is_unspaced, split_words, stem_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ricordo.memory.note import Note

WIDTH = 160
"""Characters of a snippet: about a row of a wide terminal."""
LONGEST = 100_000
"""Characters of a note that are searched."""

Places = tuple[tuple[int, int], ...]
"""Start and end of each."""
_Hit = tuple[int, int, str]
"""Start and end, and the stem or part that matches."""


def extract_snippet(
    text: str, stems: Collection[str], parts: Collection[str] = (), width: int = WIDTH
) -> tuple[str, Places]:
    """Return about `width` characters of `text`, on one line, with as many of the `stems` as
    possible, and the ranges of these; the beginning if none occurs. `parts`, folded, match at the
    beginning of words, else inside them, but only if no word with their stem occurs.
    """
    flat = " ".join(text[:LONGEST].split())
    hits = _hits(flat, stems, parts)
    start = _find_densest([(at, key) for at, _, key in hits], width)
    start = flat.rfind(" ", 0, max(0, start - width // 8)) + 1
    end = min(len(flat), start + width)
    before, after = "…" if start else "", "…" if end < len(flat) else ""
    shown = ((left, right) for left, right, _ in hits if left >= start and right <= end)
    marks = [(left - start + len(before), right - start + len(before)) for left, right in shown]
    return before + flat[start:end] + after, _merge_ranges(marks)


def extract_passage(
    note: Note, stems: Collection[str], parts: Collection[str] = ()
) -> tuple[str, Places]:
    """Return the snippet of the body of a note; that of its description if only the description
    matches, or there is no body.
    """
    body, places = extract_snippet(note.body, stems, parts)
    if places:
        return body, places
    description, places = extract_snippet(note.description, stems, parts)
    return (description, places) if places or not body else (body, ())


def _hits(flat: str, stems: Collection[str], parts: Collection[str]) -> list[_Hit]:
    folded, places = fold_with_places(flat)
    hits = list(_find_stems(folded, stems))
    matched_stems = {key for _, _, key in hits}
    for part in parts:
        if stem_word(part) not in matched_stems:
            hits += _find_part(folded, part)
    hits.sort()
    if isinstance(places, range):
        return hits
    return [(places[start], find_end(places, end), key) for start, end, key in hits]


def _merge_ranges(marks: Iterable[tuple[int, int]]) -> Places:
    """Return the ordered `marks` with touching ones merged: pairs of characters overlap."""
    joined: list[tuple[int, int]] = []
    for start, end in marks:
        if joined and start <= joined[-1][1]:
            start, before = joined.pop()
            end = max(end, before)
        joined.append((start, end))
    return tuple(joined)


def _find_stems(folded: str, stems: Collection[str]) -> Iterator[_Hit]:
    """Yield the words with one of the `stems`. Only words with the beginning of a stem are stemmed:
    stemming all would take fifty times as long.
    """
    for pair in filter(is_unspaced, stems):
        yield from ((match.start(), match.end(), pair) for match in re.finditer(pair, folded))
    spaced = frozenset(key for key in stems if not is_unspaced(key))
    starts = {re.escape(key[: max(3, len(key) - 1)]) for key in spaced}
    if not starts:
        return
    for match in re.finditer(rf"(?:{'|'.join(sorted(starts))})[^\W_]*", folded):
        text, at = match[0], match.start()
        pieces = [text] if text.isascii() else split_words(text)
        matched = next((key for word in pieces if (key := stem_word(word)) in spaced), "")
        if matched and not folded[at - 1 : at].isalnum():
            yield at, match.end(), matched


def _find_part(folded: str, part: str) -> Iterator[_Hit]:
    if not part or (len(part) == 1 and part.isalnum() and not is_unspaced(part)):
        # a single letter occurs everywhere
        return
    anywhere = re.escape(part)
    at_start = list(re.finditer(rf"(?<![^\W_]){anywhere}", folded))
    for match in at_start or re.finditer(anywhere, folded):
        yield match.start(), match.end(), part


def _find_densest(hits: list[tuple[int, str]], width: int) -> int:
    """Return the start of the range with the most different stems."""
    best, most = 0, 0
    for number, (start, _) in enumerate(hits):
        within = {key for at, key in hits[number : number + 40] if at < start + width}
        if len(within) > most:
            best, most = start, len(within)
    return best
