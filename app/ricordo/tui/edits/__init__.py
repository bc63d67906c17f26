"""Editing from the screen: the editor, and the writer that shows a change before it is written.

`writer.py` is the one way from a key to the disk: it composes, proposes and applies change sets in
threads, one after the other, and shows merges and edit conflicts. A key that writes ends when the
screen shows what was written (`expected_writes.py`). `editor.py` edits a private copy in the user's
editor, so that no typed text is lost whatever happens to the note.
"""
