"""Claude Code: its auto memory, its settings and its transcripts.

`folder.py` computes the directory of a memory from the working directory and the settings. It opens
no transcript and loads next to nothing, because the hook runs it at every message. `location.py`
has the layout and the load of 200 lines or 25,000 UTF-16 units; `support.py` answers the registry.
A transcript is one JSON object a line, and the order of lines is the order of time.
"""
