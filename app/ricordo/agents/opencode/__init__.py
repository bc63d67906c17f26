"""opencode: its transcripts; it has no memory of its own."""

from __future__ import annotations

from ricordo.agents.agent import Agent

AGENT = Agent("opencode", "opencode", keeps_database=True)
