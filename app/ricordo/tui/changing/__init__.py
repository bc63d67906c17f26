"""The room in which the main screen changes a memory: what each key does, and the way to disk."""
