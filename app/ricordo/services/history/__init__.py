"""History of a memory: versions, recording, undo and redo, recovery, maintenance.

Everything is read from the one history database (`storage/history.py`). `recorder.py` records what
other programs wrote, `live_recorder.py` does so while the notebook is open: a touched file is
recorded once it has been stable for 0.3 seconds. `undo.py` makes the change set that reverts the
last act and writes it through the same writer, so that an undo can be undone. `recovery.py`
completes what a crash interrupted before a memory is read; `maintenance.py` verifies, trims and
purges.
"""
