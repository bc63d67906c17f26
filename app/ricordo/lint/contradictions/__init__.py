"""Contradictions: claims and notes that contradict or repeat each other.

`statements.py` splits notes into sentences, `claim.py` reads what a short one claims (subject,
values, sign, scope), `facts.py` what a text says of a named thing such as a ticket. `compare.py`
aligns short claims word by word. Statements in free wording are read clause by clause
(`passage.py`, with `compared_sentence.py` for what a sentence names and signals, `values.py` for
its values and `subjects.py` for the things and sides that it names); `measures.py` measures what
two of them share, what sets them apart (`frames.py`) and in what they exclude each other, and
`score.py` weighs the measures: surely a contradiction, which is reported, or likely, which is
offered to the user as a candidate. `comparer.py` groups the claims of a memory by subject and
relation, so that no claim is compared with all others, and judges the statements of the notes that
changed last with those nearest to them. `repeats.py` says whether two notes repeat each other,
`replacement.py` which values one sentence replaces in another, `difference.py` words the
difference, `records.py` stores the pairs without any text.

Among the many statements of a memory only claims with a common subject, which has a name or is
the same word by word, or with values and a high score become findings: an invented contradiction
costs more than a missed one. The words are data (`lint/rules/opposition.toml`, `subjects.toml`,
`tools.toml`), and so are the weights (`contradiction.toml`). No model takes part.
"""
