"""Texts without what interrupts or escapes their values."""

from __future__ import annotations

import html
import re

from ricordo.secrets.rules import rules

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def unwrapped(text: str) -> tuple[str, list[int]]:
    """`text` without what interrupts or escapes its values, and where each character came from."""
    parts: list[str] = []
    origins: list[int] = []
    at = 0
    for match in rules().pieces["wrapping"].finditer(text):
        if match["fold"] is not None and not _is_folded(text, match):
            continue
        plain = _plain(match)
        parts += [text[at : match.start()], plain]
        origins += [*range(at, match.start()), *[match.end() - 1] * len(plain)]
        at = match.end()
    return ("".join([*parts, text[at:]]), [*origins, *range(at, len(text))]) if at else ("", [])


def _plain(match: re.Match[str]) -> str:
    """Return what an escape stands for; "" for what only interrupts."""
    if match["percent"]:
        return chr(int(match["percent"], 16))
    return (
        html.unescape(match[0])
        if match["entity"]
        else _ESCAPES.get(escape := match["escape"] or "", escape)
    )


def _is_folded(text: str, fold: re.Match[str]) -> bool:
    """Whether the line break stands inside one random value, not between two."""
    before = re.split(r"[^\w+/=-]", text[max(0, fold.start() - 80) : fold.start()])[-1]
    random = before.isalnum() or "_" in before or "-" in before
    return random and not before.isalpha() and not rules().token.match(text, fold.end())
