"""The services: one package per feature, called by the command line and the screens.

A service reads a `Notebook` (`workspace/`) and returns values, or writes through the transactional
writer; it prints nothing and knows no screen. A package imports another one only along the list in
`pyproject.toml`. `describe.py` has the JSON values of the command line, a contract, and the panes
as plain text; `review.py` the few notes that are due today.
"""
