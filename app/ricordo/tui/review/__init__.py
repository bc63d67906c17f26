"""The review of the day."""
