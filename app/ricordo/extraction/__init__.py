"""Statements that a user makes to agents: sentences, dates, and which of them are worth keeping."""
