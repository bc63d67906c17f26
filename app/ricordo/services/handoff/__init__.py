"""Handoffs: facts, drafts, writing the file, resuming."""
