"""Word for word, but not all of it: where a quotation is cut."""

from __future__ import annotations

from ricordo.secrets import find_secrets

_EDGES = ("\n\n", "\n", ". ", " ")
_LONGEST_SECRET = 8_000
"""Characters behind a cut in which a credential may end that begins before it."""
_LEAST = 0.5
"""Share of the room that a quotation keeps before a smaller edge is cut at."""


def excerpt(text: str, most: int) -> str:
    """Return the beginning of `text`: at most `most` characters, up to the end of a paragraph, a
    line, a sentence or a word. It never ends inside of a credential, which nobody would know again
    by its first half.
    """
    text = text.strip()
    if len(text) <= most:
        return text
    cut = _edge(text[:most])
    near = find_secrets(text[: most + _LONGEST_SECRET])
    cut = next((it.start for it in near if it.start < cut < it.end), cut)
    return text[:cut].rstrip()


def how_much(text: str, quoted: str) -> str:
    """Return what to say of a quotation that is not the whole of `text`; "" where it is."""
    whole = len(text.strip())
    return "" if len(quoted) >= whole else f" (the first {len(quoted)} of {whole} characters)"


def _edge(head: str) -> int:
    for edge in _EDGES:
        at = head.rfind(edge)
        if at >= len(head) * _LEAST:
            return at + len(edge)
    return len(head)
