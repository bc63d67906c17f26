"""Predicts tides and plans berths for small harbours."""

__version__ = "0.9.2"
