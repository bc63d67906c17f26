"""Statements that a user makes to agents: sentences, dates, and which of them are worth keeping.

`sentence.py` splits a message without code and quotations, `statement.py` finds what the user wants
remembered by the patterns of `patterns.toml` (nine languages), `dates.py` makes relative dates
absolute. A message that contains a credential is skipped: no part of it may be quoted. Used by
`curation` and `handoff`; works on text alone and opens no file.
"""
