"""The diagnosis on screen: what is wrong around all memories of this machine.

`screen.py` lists the problems beside what is known of the one under the cursor and the change that
repairs it.
"""
