"""The front door: one file for each thing a person can do with a memory."""
