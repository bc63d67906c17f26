"""The finder: notes by name and content while you type, in one memory or in all.

`search.py` has what is searched, and builds the indexes; `controller.py` has them built while no
key is pressed, opens the screen, and finds the associations of the open note. Until an index is
ready, names are found without it.
"""
