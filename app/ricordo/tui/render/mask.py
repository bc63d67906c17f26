"""Credentials as they are shown: masked, for as long as the user does not reveal them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from threading import Lock

from ricordo.secrets import Secret, find_secrets

MASK = "●●●●●●"
"""Stands for a credential, of whatever length; in each line of one that has several."""
SHORT = 16_000
"""Characters up to which a text is looked through while it is drawn: some milliseconds at most."""
_MOST = 2_000
"""Texts of which it is remembered what is in them."""
_known: dict[str, tuple[Secret, ...]] = {}
_lock = Lock()
_PART = re.compile(r"[^\r\n]+")


def secrets_in(text: str) -> tuple[Secret, ...]:
    """Return the credentials in `text`, in their order; remembered, so that no key that shows it
    again has to wait.
    """
    known = _known.get(text)
    if known is None:
        known = tuple(find_secrets(text))
        with _lock:
            if len(_known) >= _MOST:
                del _known[next(iter(_known))]
            _known[text] = known
    return known


def is_looked_through(text: str) -> bool:
    """Say whether `text` can be masked at once: it is short, or was looked through before."""
    return len(text) <= SHORT or text in _known


def masked(text: str, start: int = 0, end: int | None = None) -> str:
    """Return `text`, or what stands of it from `start` to `end`, with `MASK` in the place of each
    credential. Line ends stay, so that lines keep their numbers.
    """
    secrets, part = secrets_in(text), text[start:end]
    return _with_masks(part, [(a - start, b - start) for _, a, b in secrets]) if secrets else part


def masked_passage(
    passage: str, marks: Sequence[tuple[int, int]], text: str
) -> tuple[str, Sequence[tuple[int, int]]]:
    """Return a `passage` of `text`, whose white space was made single blanks, with its credentials
    masked, also those that it has only a part of; and the `marks` that stand in what is left.
    """
    if not secrets_in(text):
        return passage, marks
    places = sorted({*_places_in(passage, text), *((a, b) for _, a, b in secrets_in(passage))})
    kept = [it for it in marks if all(it[1] <= a or b <= it[0] for a, b in places)]
    moved = [tuple(len(_with_masks(passage[:at], places)) for at in it) for it in kept]
    return _with_masks(passage, places), [(a, b) for a, b in moved]


def _with_masks(text: str, places: Sequence[tuple[int, int]]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in places:
        start, end = max(start, at), min(end, len(text))
        if start < end:
            parts += [text[at:start], _PART.sub(MASK, text[start:end])]
            at = end
    return "".join(parts) + text[at:]


def _places_in(passage: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where credentials of `text` stand in a passage of it."""
    before = 1 if passage.startswith("…") else 0
    said = passage[before:].removesuffix("…")
    words = list(re.finditer(r"\S+", text))
    begins = [word.start() for word in words]
    flat = " ".join(word[0] for word in words)
    # where each word begins in the flat text
    flat_begins = [0, *accumulate(len(word[0]) + 1 for word in words)]
    at = flat.find(said)
    if at < 0:
        return
    for _, start, end in secrets_in(text):
        first, last = (bisect_right(begins, place) - 1 for place in (start, end - 1))
        left = flat_begins[first] + start - begins[first]
        right = flat_begins[last] + end - begins[last]
        yield max(0, left - at) + before, min(right - at, len(said)) + before
