"""Contradictions: claims and notes that contradict or repeat each other.

`statements.py` splits notes into sentences, `plain_words.py` puts one into plain words, `claim.py`
reads what a short one claims, `facts.py` what a text says of a named thing. `alignment.py` compares
short claims word by word. Others are read clause by clause (`passage.py` with
`compared_sentence.py`, `values.py`, `subjects.py`); `measures.py` measures what two of them share,
what sets them apart (`frames.py`) and in what they exclude each other, `score.py` weighs it, and
`compare.py` decides: surely a contradiction, which is reported, or likely, which is offered to the
user. `comparer.py` compares the claims of a memory by subject and relation, judges the notes that
changed last with what is nearest to them by words (`statement_index.py`), and lists what a model
can be asked about; `selection.py` selects what is reported and offered. `repeats.py` says whether
two notes repeat each other, `replacement.py` which values one replaces in another, `difference.py`
words the difference, `records.py` packs the pairs for the cache. Among many statements only claims
with a common subject, or values and a high score, become findings: an invented contradiction costs
more than a missed one. Words and weights are data (`lint/rules/*.toml`).
"""
