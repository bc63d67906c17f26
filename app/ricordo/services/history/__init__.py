"""History of a memory: versions, recording, undo and redo, recovery, maintenance."""
