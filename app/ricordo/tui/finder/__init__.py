"""The finder: notes by name and content while you type, in one memory or in all.

`controller.py` keeps the search indexes up to date while no key is pressed, and finds the
associations of the open note. Until an index is ready, names are found without it.
"""
