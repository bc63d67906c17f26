"""Changing a memory: applying change sets, fixing findings, making and renaming notes.

`change.py` composes change sets and passes them to the writer; if another program wrote meanwhile,
it returns a merge by lines, which has to be shown again, or the edit conflicts. `fix.py` makes
fixes one after the other on a memory in RAM, and checks that each removes its finding. `note.py`
creates and renames notes in the style of the memory, from `templates.toml`.
"""
