"""Connecting agents on screen: how each is connected, what would be written, and writing it."""
