"""Where a note uses the definitions of links that stand in it: `[text][label]` and its kin."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from ricordo.memory.links import TOKENS

_BEGINS = re.compile(r"\[|(?<!`)`|\\|~~~|<!--")
"""Where a use, or what hides one, may begin."""
_USE = re.compile(
    r"""
    \[(?P<text>(?:[^\[\]\\\n]++|\\.|\n(?![ \t\r]*\n)|\[[^\[\]\n]*+\])*)\]
    (?:\[(?P<label>[^\[\]\n]*+)\])?
    """,
    re.VERBOSE,
)
_BULLET = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]+")


class Use(NamedTuple):
    """A place at which a definition is used: `[text][label]`, `[label][]` or `[label]`."""

    start: int
    """Offset of its first bracket."""
    text_end: int
    """Offset of the bracket behind the text that is shown."""
    end: int
    label: str
    """The label of the definition, as `label_of` gives it."""


def find_uses(text: str, labels: Collection[str]) -> tuple[Use, ...]:
    """Return where `text` uses definitions of `labels`, which are as `label_of` gives them."""
    uses: list[Use] = []
    last_comment_end = text.rfind("-->")
    at = 0
    for begins in _BEGINS.finditer(text):
        start = begins.start()
        if start < at:
            continue
        if match := TOKENS.match(text, start):
            at = match.end()
            if text[start] == "<" and at <= last_comment_end:
                at = text.index("-->", at) + 3
        elif (match := _USE.match(text, start)) and not _is_checkbox(text, match):
            label = label_of(match["label"] or match["text"])
            use = Use(start, match.end("text"), match.end(), label)
            if use.label in labels:
                uses.append(use)
                at = use.end
    return tuple(uses)


def label_of(written: str) -> str:
    """Return a label in the form in which labels are compared."""
    return " ".join(written.split()).casefold()


def _is_checkbox(text: str, match: re.Match[str]) -> bool:
    """Say whether `[x]` is the box of a task that is done."""
    line = text.rfind("\n", 0, match.start()) + 1
    is_box = match["label"] is None and match["text"] in ("x", "X")
    return is_box and _BULLET.fullmatch(text, line, match.start()) is not None
