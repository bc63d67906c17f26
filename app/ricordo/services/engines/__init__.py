"""Engines outside this program: choosing one, what would be sent, what it may cost.

`choice.py` picks the engine by options, settings or the last choice on the screen (`engines.json`),
and knows which program lines the user has allowed. `engines.py` makes it, `preview.py` shows what
would be sent and what that may cost before anything is asked, `redaction.py` starts the redaction
of a run with the values that the user allows. Used for curation, handoffs and judging pairs.
"""
