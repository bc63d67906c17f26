"""Extract the passage of a note that matches a query. Standard library only."""

from __future__ import annotations

import re

from ricordo.search.words import find_end, fold_with_places, is_unspaced, split_words, stem_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ricordo.memory.note import Note
    from ricordo.search.phrase import Phrase

WIDTH = 160
"""Characters of a snippet: about a row of a wide terminal."""
LONGEST = 100_000
"""Characters of a note that are searched."""

_PHRASE = '"'
"""Prefix of the keys of phrases."""
_PHRASE_WEIGHT = 10
"""A phrase counts as so many different words."""

Places = tuple[tuple[int, int], ...]
"""Start and end of each."""
Hit = tuple[int, int, str]
"""Start and end in a text, and the stem, part or phrase that matches, as its key."""


def extract_snippet(
    text: str,
    stems: Collection[str],
    parts: Collection[str] = (),
    width: int = WIDTH,
    phrases: Collection[Phrase] = (),
) -> tuple[str, Places]:
    """Return about `width` characters of `text`, on one line, with as many of the `stems` as
    possible, and the ranges of these; the beginning if none occurs. `parts`, folded, match at the
    beginning of words, else inside them, but only if no word with their stem occurs. A passage with
    `phrases` is preferred.
    """
    flat = " ".join(text[:LONGEST].split())
    hits = find_hits(flat, stems, parts, phrases)
    start = _find_densest([(at, key) for at, _, key in hits], width)
    return cut_out(flat, start, width, [(left, right) for left, right, _ in hits])


def cut_out(
    flat: str, start: int, width: int, ranges: Iterable[tuple[int, int]]
) -> tuple[str, Places]:
    """Return `width` characters of `flat` from a little before `start`, and the `ranges` there."""
    start = flat.rfind(" ", 0, max(0, start - width // 8)) + 1
    end = min(len(flat), start + width)
    before, after = "…" if start else "", "…" if end < len(flat) else ""
    shown = ((left, right) for left, right in ranges if left >= start and right <= end)
    marks = [(left - start + len(before), right - start + len(before)) for left, right in shown]
    return before + flat[start:end] + after, _merge_ranges(marks)


def extract_passage(
    note: Note,
    stems: Collection[str],
    parts: Collection[str] = (),
    phrases: Collection[Phrase] = (),
) -> tuple[str, Places]:
    """Return the snippet of the body of a note; that of its description if only the description
    matches, or there is no body.
    """
    body, places = extract_snippet(note.body, stems, parts, phrases=phrases)
    if places:
        return body, places
    description, places = extract_snippet(note.description, stems, parts, phrases=phrases)
    return (description, places) if places or not body else (body, ())


def find_hits(
    text: str, stems: Collection[str], parts: Collection[str], phrases: Collection[Phrase]
) -> list[Hit]:
    """Return the matches in `text`, in order."""
    folded, places = fold_with_places(text)
    hits = list(_find_stems(folded, stems))
    matched_stems = {key for _, _, key in hits}
    for part in parts:
        if stem_word(part) not in matched_stems:
            hits += _find_part(folded, part)
    for phrase in phrases:
        hits += [(start, end, _PHRASE + phrase.literal) for start, end in phrase.find(folded)]
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


def _find_stems(folded: str, stems: Collection[str]) -> Iterator[Hit]:
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


def _find_part(folded: str, part: str) -> Iterator[Hit]:
    if not part or (len(part) == 1 and part.isalnum() and not is_unspaced(part)):
        # a single letter occurs everywhere
        return
    anywhere = re.escape(part)
    at_start = list(re.finditer(rf"(?<![^\W_]){anywhere}", folded))
    for match in at_start or re.finditer(anywhere, folded):
        yield match.start(), match.end(), part


def _find_densest(hits: list[tuple[int, str]], width: int) -> int:
    """Return the start of the range with the most different stems, and phrases before them."""
    best, most = 0, 0
    for number, (start, _) in enumerate(hits):
        weight = weigh_keys(key for at, key in hits[number : number + 40] if at < start + width)
        if weight > most:
            best, most = start, weight
    return best


def weigh_keys(keys: Iterable[str]) -> int:
    """Return how much the different `keys` of hits count together."""
    return sum(_PHRASE_WEIGHT if key[:1] == _PHRASE else 1 for key in set(keys))
