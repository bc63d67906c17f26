"""Low screens: what has to be read gets the rows that are free on others."""

from __future__ import annotations

LOW = [(0, "-low"), (30, "-high")]
"""Classes of a screen by its rows, for Textual's `VERTICAL_BREAKPOINTS`."""
