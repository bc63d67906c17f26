"""Measurements of speed, each beside a reference that is taken in the same run."""
