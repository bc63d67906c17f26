"""The diagnosis on screen: what is wrong around all memories of this machine.

`controller.py` opens it from the palette, `screen.py` lists the problems beside the change that
repairs the one under the cursor, and `rows.py` draws them.
"""
