"""Read and write files: the only package that opens files of a memory.

`reader.py` reads a directory into a `Memory`, opening every file from its directory, never through
a symbolic link and never blocking. `writer.py` is the only way to change files: lock, check,
journal, exchange, verify, record. `atomic_exchange.py` swaps the new file with the old one and
checks what came out; all system calls are in `system_calls.py`, where tests inject faults.

The state directory is outside of every memory, for this user only: `history.db` (journal, every
version, decisions) must survive a crash, while caches are sealed with a checksum and rebuilt
(`cache_file.py`). Formats of state files are contracts: older ones are still read.
`project_tree.py` and `file_state.py` read untrusted projects within limits.
"""
