"""Hearing what sessions tell: messages, commands, files, mishaps, decisions."""
