"""Gemini CLI, as an agent for which handoffs are written.

Its memories and sessions are not read. `handoff.toml` has the headings that it knows, and the line
for `GEMINI.md` that makes it read a handoff.
"""

from __future__ import annotations

from ricordo.agents.agent import Agent
from ricordo.agents.support import AgentSupport


class GeminiSupport(AgentSupport):
    """Gemini CLI."""

    agent = Agent("gemini", "Gemini CLI")
    takes_handoffs = True
    instruction_files = ("GEMINI",)


GEMINI = GeminiSupport()
