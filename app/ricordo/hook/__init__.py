"""The hooks: small programs that agents call; standard library only.

A hook runs while an agent waits, so it must be fast, may never block the agent and always exits
with 0. `program.py` reads the event and answers in a child process, which the kernel ends after two
seconds even if C code blocks. `event.py` has what all answers share, `indexed_memory.py` finds the
memory of the directory. `prompt.py` selects notes for a message with the modules of `search` that
need the standard library alone; `start.py` tells facts; `session_events.py` follows writes,
compactions and stops.

The hooks read the index and never build or repair it. `refresh.py` leaves a request for that, and
starts a process in the background. A note is given only if its file is the one that was indexed.
`__main__.py` starts the hooks without loading the command line.
"""
