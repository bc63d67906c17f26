"""Files to values and values to files: the only package that opens files of a memory."""
