"""Sessions of agents: which are relevant to a memory, and what they did with its notes.

`sessions.py` finds the sessions of the memory's project, `activity.py` counts who read what,
`activity_text.py` dates a note (by its own stamp, or later by the history where Ricordo wrote its
text; without a stamp by git, else by the time of the file), `trace.py` finds what caused a note:
the user's message before it whose words it shares. Nothing is guessed: without such a message there
is no cause. `origin.py` reads this back for the notebook, the inbox and `ricordo show`. The quoted
messages are stored without credentials, because agents delete their transcripts.
"""
