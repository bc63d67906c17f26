"""Everything that depends on an agent: where its memories and sessions are, and how they are read.

`registry.py` lists the agents; `support.py` says what can be asked of each.
"""
