"""Handoffs: what the next agent needs to continue the work, each statement with its proof.

The way is: transcripts, facts (`gather/`), statements (`compose/`, or a model by `draft.py`),
proofs (`prove.py`), redaction, budget, text (`format.py`). `prove.py` alone gives marks, whoever
made the statement: by `check.py`, which looks at files, notes and git now, and by what transcripts
report. A check runs nothing, follows no link and leaves neither project nor memory.

`format.py` writes and parses the document; both directions agree, and the last line of the header
is a digest, so that every edit is detected. A document is untrusted when it is read (`resume.py`).
Text of others is escaped by `quotation.py`, so that it passes for no line, mark or heading.
`services/handoff` chooses the sessions and writes the file.
"""
