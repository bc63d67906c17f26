"""Searching one memory or all memories, recall, and the uses of notes."""
