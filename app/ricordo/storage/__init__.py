"""Read and write files: the only package that opens files of a memory."""
