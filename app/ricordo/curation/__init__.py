"""The curator: a separate session that proposes changes to a memory and never applies them.

`brief.py` composes what an engine reads, `engine.py` is the protocol of an engine, `edits.py` and
`form.py` read the answers of external ones. `placement.py` finds the note to which a statement of
the user belongs. `validation.py` tries each proposal on the memory as the proposals before it leave
it: a quote has to be in its source letter by letter, `drift.py` lists the facts that an edit loses,
and nothing may contradict a decision of the user (`user_decisions.py`) unless the user said
something newer.

External engines see ids of notes and messages, never paths. Prompts are versioned files in
`prompts/`: a changed text needs a new number, because history and ledger name the version.
`services/curation` runs all this and stores the result.
"""
