"""Claude Code: where its auto memory lies and how it is laid out (formats: Claude Code 2.1.240)."""

from __future__ import annotations

from ricordo.memory.layout import Kind, Layout
from ricordo.memory.load import CLAUDE_LIMITS

NOTE_TYPES = frozenset(("user", "feedback", "project", "reference"))

AUTO_MEMORY = Layout(
    kind=Kind.CLAUDE,
    agent="Claude Code",
    index_names=frozenset(("memory.md",)),
    limits=CLAUDE_LIMITS,
    required=("name", "description", "type"),
    heads_expected=True,
    types=NOTE_TYPES,
)

AGENT_MEMORY = Layout(
    kind=Kind.CLAUDE_AGENT,
    agent="Claude Code sub-agent",
    index_names=frozenset(("memory.md",)),
    limits=CLAUDE_LIMITS,
    required=("name", "description", "type"),
    heads_expected=True,
    types=NOTE_TYPES,
)
