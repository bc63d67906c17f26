"""What is wrong with a memory: rules and their fixes, claim checks, contradictions, retention.

`rule.py` registers the rules, `linter.py` runs them and caches their findings by file. A finding
has a rule name, which is a contract, and an id made of rule, path and cause: a dismissal stays
valid until the text of the cause changes. A finding may have a fix, a list of changes that goes
through the writer like any other.

Rules read the memory and `Evidence`, a frozen value gathered beforehand, and nothing slow.
`retention.py` measures how far to trust a note by its age and confirmations. Called by
`services/workspace` for every snapshot.
"""
