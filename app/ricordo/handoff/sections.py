"""Sections by the agent for whom a handoff is written: headings, order, length, where it finds the
memory. The table is `sections.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ricordo.handoff.document import Target
from ricordo.handoff.statement import Section
from ricordo.resources import data_text

Heading = tuple[str, ...]
"""One heading, or the one above it and its own."""


@dataclass(frozen=True, slots=True)
class Family:
    """How handoffs for one agent look."""

    order: tuple[Section, ...]
    """Every section, in the order in which they stand."""
    headings: Mapping[Section, Heading]
    most_tokens: int
    pointer: str
    """How that agent comes to the notes, as a sentence."""

    def section(self, heading: Heading) -> Section | None:
        """Return what stands under a heading; None where none of ours is called so."""
        return next((it for it, own in self.headings.items() if own == heading), None)


@cache
def family(target: Target) -> Family:
    """Return how handoffs for `target` look."""
    table = tomllib.loads(data_text("handoff/sections.toml"))[target.value]
    headings = {Section(name): tuple(parts) for name, parts in table["names"].items()}
    order = tuple(Section(name) for name in table["order"])
    assert sorted(order) == sorted(headings) == sorted(Section)
    return Family(order, headings, int(table["tokens"]), str(table["pointer"]))
