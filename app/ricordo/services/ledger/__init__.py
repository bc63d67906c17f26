"""The ledger: what curation cost and what it brought.

`ledger.jsonl` of the state directory is append-only: a line for each run of an engine, and one for
each decision on its proposals, with the act of the history. A decision counts while that act is in
effect, whoever undoes it and where. `benefit.py` joins this with the reads by agents, and computes
the drift from the history, so that it does not depend on the log. No text of notes is stored.
"""
