"""Sessions of agents: which are relevant to a memory, and what they did with its notes."""
