"""The rules by subject, and their word lists."""
