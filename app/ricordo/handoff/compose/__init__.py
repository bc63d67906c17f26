"""Composing a handoff: from facts to statements by extraction; nothing is reworded.

`compose.py` calls the modules for the parts of a handoff: decisions, refusals, state of the work,
runs, next steps. `conversation.py` groups what the agent said and did by the messages of the user.
How people and agents say such things is data (`words.toml`). Quotations are made shorter together
until the handoff fits (`quotes.py`). A statement names its facts and the proof that it claims;
whether that proof is valid is not decided here.
"""
