"""Curation: choosing an engine, preparing, running, deciding on proposals, applying them.

`preparation.py` reads the new messages and composes the brief, `curation.py` runs an engine and
applies or refuses proposals, `decision.py` shows each proposal by itself as edits of the present
memory. `pending.py` stores the proposals, one file per memory, and how far transcripts were curated
(cursors); cursors move when nothing is pending any more.

The history decides what is pending: an act that applies or refuses proposals names them, and a
proposal is pending unless such an act is in effect. So undo, redo and recovery need to know nothing
of proposals. Called by `cli/curation.py` and `tui/curation`.
"""
