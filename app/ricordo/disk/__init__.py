"""Files to values and values to files: the only room that opens a memory's files."""
