"""Searching one memory or all of them, recall, and what notes are used for."""
