"""Codex: its memory and its transcripts."""

from __future__ import annotations

from ricordo.agents.agent import Agent

AGENT = Agent("codex", "Codex")
