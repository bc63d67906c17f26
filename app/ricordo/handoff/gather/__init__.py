"""Gathering the facts of a handoff from sessions and the project."""
