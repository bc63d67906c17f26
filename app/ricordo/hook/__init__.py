"""The hooks: small programs that agents call; standard library only.

`ricordo hook prompt` runs at every message of a user, so it must be fast, may never block the agent
and always exits with 0. `program.py` reads the event and answers in a child process, which the
kernel ends after two seconds even if C code blocks. `prompt.py` finds the memory of the directory
and selects the notes with the modules of `search` that need the standard library alone.

It reads the index and never builds or repairs it; it writes nothing but the record of its use. A
note is given only if its file is the one that was indexed. `__main__.py` starts it without loading
the command line.
"""
