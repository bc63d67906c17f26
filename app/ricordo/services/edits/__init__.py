"""Changing a memory: applying change sets, fixing findings, making and renaming notes."""
