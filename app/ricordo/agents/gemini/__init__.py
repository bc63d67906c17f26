"""Gemini CLI, for which handoffs are written; its memories and sessions are not read."""
