"""Contradictions: claims and notes that contradict or repeat each other.

`statements.py` splits notes into sentences, `claim.py` reads what one claims (subject, values,
sign, scope), `facts.py` what a text says of a named thing such as a ticket, `compared_sentence.py`
what a whole sentence names and signals, `frames.py` what two of them share, in what they differ and
what keeps them apart. `compare.py` says why two contradict each other: surely, which is reported,
or perhaps, which is offered to the user as a candidate. `comparer.py` groups the claims of a memory
by subject and relation, so that no claim is compared with all others, and looks for candidates in
the notes that changed last. `repeats.py` says whether two notes repeat each other, `replacement.py`
which values one sentence replaces in another, `records.py` stores the pairs without any text.

Among the many statements of a memory only claims with a common subject, which has a name or is
the same word by word, become findings: an invented contradiction costs more than a missed one. The
words are data (`lint/rules/opposition.toml`, `lint/rules/tools.toml`). No model takes part.
"""
