"""Searching one memory or all memories, recall, and the uses of notes.

`search.py` finds by name, conditions and text, `recall.py` the few notes relevant to a message,
`ambient.py` those relevant to directory, branch and time. All of them use `ricordo.search`; here
the index is opened, with the notes that agents never get marked as withheld. `usage.py` records
uses: only what the user opened or confirmed breaks ties in a ranking.
"""
