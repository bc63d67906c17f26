"""The inbox: what others changed since the last visit, and reverting it."""
