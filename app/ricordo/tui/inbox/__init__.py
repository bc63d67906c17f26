"""The inbox: what others changed since the last visit, to keep or revert.

Decisions are marks until `ctrl+s` writes them as one change; what is undecided stays new. Values
come from `services/inbox`.
"""
