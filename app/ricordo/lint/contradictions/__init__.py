"""Contradictions: claims and notes that contradict or repeat each other.

`statements.py` splits notes into sentences, `claim.py` reads what a short one claims, `facts.py`
what a text says of a named thing. `compare.py` aligns short claims word by word. Others are read
clause by clause (`passage.py` with `compared_sentence.py`, `values.py`, `subjects.py`);
`measures.py` measures what two of them share, what sets them apart (`frames.py`) and in what they
exclude each other, `score.py` weighs it: surely a contradiction, which is reported, or likely,
which is offered to the user. `comparer.py` compares the claims of a memory by subject and relation,
and judges the notes that changed last with what is nearest to them by words
(`statement_index.py`). `repeats.py` says whether two notes repeat each other, `replacement.py`
which values one replaces in another, `difference.py` words the difference, `records.py` stores the
pairs without any text. Among many statements only claims with a common subject, or values and a
high score, become findings: an invented contradiction costs more than a missed one. Words and
weights are data (`lint/rules/*.toml`). No model takes part.
"""
