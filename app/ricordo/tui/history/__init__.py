"""The history of a note: its versions with their diffs, restoring one, and deleted notes.

Values come from `services/history/versions.py`; a version is restored through the writer.
"""
