"""Codex: its memory and its transcripts.

`support.py` answers the registry and has the layout of the memory, which is read-only here.
`transcript.py` reads rollouts, and is loaded only when there is one to read.
"""

from __future__ import annotations

from ricordo.agents.agent import Agent

AGENT = Agent("codex", "Codex")
