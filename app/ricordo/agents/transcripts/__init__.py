"""What agents did: their session transcripts, read-only, as values of one kind for all agents.

`session.py` has the values: a `Session` of messages with their tool calls. `lines.py` gives the
lines of a file piece by piece; one over 4 MB is counted and skipped, so that a transcript of any
size is read in bounded memory. `reader.py` makes messages of them with the reader of the agent.

`catch_up.py` keeps in `activity.db` of the state directory what sessions did to notes, with a
`Checkpoint`: the next reading goes on from there, if the bytes at the start and before that place
are unchanged. Agents delete old transcripts, but what was stored stays. Called by `services`
(`sessions`, `curation`, `handoff`) and `handoff/gather`.
"""
