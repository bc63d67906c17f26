"""Handing off: what the next agent needs to go on, each statement with the proof that it has."""
