"""Engines of the curator: rules, a language model, a command of the user's.

`rules.py` needs neither key nor network: it finds statements by patterns and places them, then
proposes what can be tidied without a statement. `external.py` asks anything else: a function gets
the brief as `Sealed` text and returns a JSON value, which is untrusted. `llm.py` and `command.py`
are the two such functions. `services/engines` chooses and makes an engine.
"""
