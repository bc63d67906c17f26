"""Ricordo: the terminal notebook for the memory that AI agents keep about a person."""

__version__ = "0.1.0"
