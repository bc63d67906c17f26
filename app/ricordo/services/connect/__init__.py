"""Connecting agents: what is written into a folder of Ricordo's own for each of them, and what
happens in the background while they work.

`agents/*/connection.py` say what each agent needs; `connection.py` writes and removes it, and keeps
a record of it; `requests.py` answers the requests that the hooks leave.
"""
