"""Fixes of findings: changes to a memory, made only for what a rule has found."""
