"""Statements that quote what the person or the agent said."""

from __future__ import annotations

from ricordo.handoff.composing.excerpt import excerpt, how_much
from ricordo.handoff.facts import Ref
from ricordo.handoff.statement import Quote, Section, Statement


def quoting(
    section: Section, label: str, words: str, ref: Ref, stands_on: tuple[str, ...], most: int
) -> Statement:
    """Return a statement that quotes the beginning of `words`, which stand at the turn `ref`: at
    most `most` characters. `label` says whose words they are and what for.
    """
    quote = excerpt(words, most)
    return Statement(section, f"{label}{how_much(words, quote)}", Quote(ref), stands_on, quote)
