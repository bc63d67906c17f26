"""The only way out to a language model.

Requests are redacted, limited and counted; replies are accepted whole or not at all. What sends
takes only `Sealed` text, a type that only a `Redaction` makes, so that the type checker finds any
way around it. `gate.py` admits a run: the caps and the circuit breaker (`budget.py`) are values in
`model.json`, changed under a lock, and the most that a run may cost is reserved before it starts.

`ask.py` asks a server within one deadline, `reply.py` reads the stream and parses nothing before
its last event, `schema.py` accepts exactly the requested form. `program.py` runs a program instead.
`failure.py` has the causes of failure, each with what to do. `prices.toml` is the price table; the
user's own file adds to it. Called by the engines of `curation` and by `services`.
"""
