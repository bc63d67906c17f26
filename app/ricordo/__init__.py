"""Ricordo: the terminal notebook for the memory that AI agents keep about their user."""

__version__ = "0.1.0"
