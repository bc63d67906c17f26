"""Mask secrets on the screen until the user reveals them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from threading import Lock

from ricordo.secrets import Secret, find_in_passage, find_secrets

MASK = "●●●●●●"
"""Shown instead of a secret of any length; once in each line of a secret of several lines."""
MAX_IMMEDIATE = 16_000
"""Most characters of a text that is scanned while it is drawn: takes a few milliseconds."""
_MOST_CACHED = 2_000
"""Most texts whose secrets are cached."""
_cache: dict[str, tuple[Secret, ...]] = {}
_lock = Lock()
_PART = re.compile(r"[^\r\n]+")


def find_cached_secrets(text: str) -> tuple[Secret, ...]:
    """Return the secrets in `text` in their order; cached, so that drawing it again is fast."""
    secrets = _cache.get(text)
    if secrets is None:
        secrets = tuple(find_secrets(text))
        with _lock:
            if len(_cache) >= _MOST_CACHED:
                del _cache[next(iter(_cache))]
            _cache[text] = secrets
    return secrets


def can_mask_at_once(text: str) -> bool:
    """Return whether `text` can be masked at once: it is short, or its secrets are cached."""
    return len(text) <= MAX_IMMEDIATE or text in _cache


def mask_text(text: str, start: int = 0, end: int | None = None) -> str:
    """Return `text` from `start` to `end` with `MASK` for each secret. Line ends stay, so that
    lines keep their numbers.
    """
    secrets, part = find_cached_secrets(text), text[start:end]
    return _mask_places(part, [(a - start, b - start) for _, a, b in secrets]) if secrets else part


def mask_passage(
    passage: str, marks: Sequence[tuple[int, int]], text: str
) -> tuple[str, Sequence[tuple[int, int]]]:
    """Return a `passage` of `text`, whose white space was made single blanks, with its secrets
    masked, also those that it has only a part of; and the `marks` moved to what is left.
    """
    secrets = find_cached_secrets(text)
    if not secrets:
        return passage, marks
    hidden = (*find_in_passage(passage, text, secrets), *find_cached_secrets(passage))
    places = sorted({(a, b) for _, a, b in hidden})
    visible_marks = [mark for mark in marks if all(mark[1] <= a or b <= mark[0] for a, b in places)]
    moved = [
        tuple(len(_mask_places(passage[:at], places)) for at in mark) for mark in visible_marks
    ]
    return _mask_places(passage, places), [(a, b) for a, b in moved]


def _mask_places(text: str, places: Sequence[tuple[int, int]]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in places:
        start, end = max(start, at), min(end, len(text))
        if start < end:
            parts += [text[at:start], _PART.sub(MASK, text[start:end])]
            at = end
    return "".join(parts) + text[at:]
