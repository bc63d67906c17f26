"""The diagnosis on screen: problems of all memories of this machine, with the change that repairs
one. `controller.py` opens it, `screen.py` is the screen, and `rows.py` draws a problem.
"""
