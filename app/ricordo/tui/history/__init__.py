"""The history of a note."""
