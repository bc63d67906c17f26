"""Contradictions: statements and notes that contradict or repeat each other.

`statements.py` splits notes into statements, `parser.py` parses one to a `Claim` (subject, values,
negation), `compare.py` says why two claims contradict each other, `repeats.py` whether two notes
repeat each other. `comparer.py` finds candidates by blocking, so that no note is compared with all
others, and compares only changed notes again. `records.py` stores the pairs without any text.

Only clear cases become findings, because an invented contradiction costs more than a missed one;
the likeliest others are uncertain pairs, which no rule reports. The words are data
(`lint/rules/opposition.toml`, `lint/rules/tools.toml`). No model takes part.
"""
