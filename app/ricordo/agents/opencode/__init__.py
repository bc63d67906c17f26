"""opencode: its transcripts; it has no memory of its own.

`support.py` answers the registry. `transcript.py` reads sessions from a database or from files, and
is loaded only when there is one to read.
"""

from __future__ import annotations

from ricordo.agents.agent import Agent

AGENT = Agent("opencode", "opencode", keeps_database=True)
