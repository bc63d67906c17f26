"""Editing from the screen: the editor, and the writer that shows a change before it is written."""
