"""Sessions of agents: which concern a memory, what they did with its notes."""
