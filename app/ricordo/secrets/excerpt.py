"""Mask the secrets of whole texts in an excerpt of them: a diff, a quote, a message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from ricordo.secrets.find import find_secrets, mask
from ricordo.secrets.rules import Secret

_WHOLE_WORD = 8
"""Characters: a shorter value is masked only where it is a word by itself."""


def collect_secrets(texts: Iterable[str]) -> dict[str, str]:
    """Return the kinds of the secrets in `texts` by their values."""
    kinds: dict[str, str] = {}
    for text in texts:
        for kind, start, end in _find_secrets(text):
            kinds.setdefault(text[start:end], kind)
    return kinds


def mask_excerpt(excerpt: str, kinds: Mapping[str, str]) -> str:
    """Return `excerpt` with its secrets masked, also single lines of the secrets in `kinds`: a line
    of a key or a seed phrase alone may look like any other text.
    """
    # a longer value may contain a shorter one
    for value in sorted(kinds, key=len, reverse=True):
        masked = f"[secret: {kinds[value]}]"
        # in a diff each line of a value has a sign before it
        for line in filter(None, map(str.strip, value.split("\n"))):
            if line in excerpt:
                excerpt = _replace(excerpt, line, masked)
    return mask(excerpt)


@lru_cache(maxsize=64)
def _find_secrets(text: str) -> tuple[Secret, ...]:
    # every proposal is about an index, and many are about the same notes
    return tuple(find_secrets(text))


def _replace(text: str, value: str, masked: str) -> str:
    if len(value) >= _WHOLE_WORD:
        return text.replace(value, masked)
    return re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", lambda _: masked, text)
