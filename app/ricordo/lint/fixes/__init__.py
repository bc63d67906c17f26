"""Fixes of findings: the changes that remove what a rule found.

Functions here return changes and write nothing; the rules in `lint/rules` attach them to findings.
Index entries are fixed line by line, an index is never rewritten. Dates for relative words come
from the frontmatter, never from the time of a file, which copies and checkouts change.
"""
