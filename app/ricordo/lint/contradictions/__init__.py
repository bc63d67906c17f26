"""Contradictions: statements and notes that contradict or repeat each other."""
