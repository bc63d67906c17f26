"""The finder."""
