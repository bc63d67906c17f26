"""Conflicts: finding and resolving them, and having uncertain pairs judged.

`conflicts.py` joins the two sides of a contradiction with what is known of them and suggests which
one to keep. `resolution.py` makes the change set that resolves it, in all places where the claim
is, with warnings on lines that still have the old value. The id of a conflict depends on the two
claims and not on the names of files, so a dismissal survives a rename. `judgement.py` asks a model
about uncertain pairs in one batch; `opinions.py` keeps its answers in `opinions.jsonl` by the
digests of the texts, so that nothing is paid for twice. An opinion changes no finding. Called by
`cli/conflicts.py` and `tui/conflicts`.
"""
