"""`ricordo doctor`: what is wrong around the memories, and what can be repaired.

`project_map.py` knows the projects and which memory each loads. `project_memories.py` finds
memories that no session loads any more, with `past_project.py`, which tells by what sessions left
whether a directory is the project that was elsewhere, and `identity.py`, which asks git;
`mixed_memories.py` finds those of several projects.
`hooks.py` checks hooks and what they cost, `setup.py` settings, servers, instruction files and
Ricordo's own directory. `doctor.py` puts all together, and `repair.py` makes and applies changes.
"""
