"""Gathering the facts of a handoff from sessions and the project.

`gather.py` reads the sessions to their end and gives `Facts`, each with its place in a transcript.
`collector.py` collects one session message by message in bounded memory: the commands and their
results (`runs.py`, by the tables `commands.toml` and `outcomes.toml`), files, decisions, reverts.
Offline and read-only: nothing is run, and no file outside the project is opened.
"""
