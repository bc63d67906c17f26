"""Engines outside this program: choosing one, what would be sent, what it may cost."""
