"""Whether words give an agent orders that nobody who hands work over would write."""

from __future__ import annotations

from datetime import UTC, datetime

from ricordo.agents.claude import AUTO_MEMORY
from ricordo.health.rule import Context
from ricordo.health.rules.safety import instruction_shaped
from ricordo.memory.note import FileFacts, read_note

_ANY_TIME = Context(datetime.fromtimestamp(0, UTC), AUTO_MEMORY)
"""The rule knows no time."""


def gives_orders(text: str) -> bool:
    """Say whether the rule `instruction-shaped` finds anything in a text that stands by itself."""
    raw = text.encode()
    note = read_note("draft.md", raw, FileFacts(len(raw), 0.0, 0, 0), AUTO_MEMORY)
    return next(instruction_shaped(note, _ANY_TIME), None) is not None
