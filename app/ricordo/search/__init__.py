"""Search: the index, ranking, recall, and the finder for names.

There is one index per memory, an SQLite file with FTS5 in `recall/` of the state directory. It is a
cache: `store.py` writes the folded words of each note, only for notes that changed; `index.py`
updates it to the `Memory` of the query, and rebuilds it if its checksum does not fit. FTS5 gives
candidates; `lexical.py` and `rank.py` score them, and `select.py` adds links and a threshold below
which nothing is returned. `finder.py` finds names without the index. `query.py` parses what a user
types; `phrase.py` and `tags.py` test the notes, and `matching_lines.py` finds where they match.
`memories.json` lists the memories by project, for the hook.

What the hook needs (`reader`, `words`, `lexical`, `rank`, `select`, `usage`, `question`, `snippet`)
needs no outside library. Scores, constants and figures: docs/recall.md. Called by
`services/search` and `hook`.
"""
