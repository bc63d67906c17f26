"""Connecting agents on screen: `screen.py` shows how each is connected and what connecting writes,
and writes it. Values come from `services/connect`.
"""
