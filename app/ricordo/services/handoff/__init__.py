"""Handoffs: facts, drafts, writing the file, resuming.

`facts.py` chooses the sessions and gathers their facts once: another budget or agent drafts again
without reading a transcript twice. `handoff.py` drafts and keeps the valid statements of an
existing handoff, `engine_draft.py` lets an engine word the rest, `output.py` redacts, fits and
writes the file as a change set, so that it can be undone. `resume.py` checks a handoff again.
Called by `cli/handoff.py` and `tui/handoff`.
"""
