"""Curation on screen: scope and engine first, then the review of the proposals.

`controller.py` counts the pending proposals and opens the screens. `scope_screen.py` shows brief,
redactions and cost before anything is sent, and runs the engine in a thread. `screen.py` is the
review; `decisions.py` holds what was accepted, refused and left out, and only `ctrl+s`
writes it. Decisions survive the closing of the screen, but not of the program.
"""
