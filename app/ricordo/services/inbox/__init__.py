"""The inbox: what others changed since the last visit, and reverting it.

Read from the history, not from the files: a visit ends with a mark, and everything after it that
the user did not write is new. `revert.py` reverts a change or single hunks of it, and puts back the
entry of a deleted note. Called by `cli/history.py` and `tui/inbox`.
"""
