"""`ricordo doctor`: what is wrong around the memories, and what can be repaired.

`project_memories.py` finds memories that no session loads any more or that several projects share,
with `identity.py`, which tells by evidence whether a directory is the project that was elsewhere.
`setup.py` checks settings, hooks, servers, instruction files and Ricordo's own directory.
`doctor.py` puts both together, and `repair.py` makes and applies the change sets.
"""
