"""Statements and notes that cannot both hold, and notes that say the same."""
