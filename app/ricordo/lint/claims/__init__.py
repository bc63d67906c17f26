"""Claim checks: what a note says of its project, checked against the project.

`checker.py` finds the claims of a note and checks them in a `Project`, which reads the files, words
and git history once. There is a module for each kind of claim: paths, symbols, versions. The
project is untrusted and nothing of it is run. An unknown name proves nothing: each module says when
something counts as missing. The verdicts are evidence (`services/workspace/evidence.py`), and
`lint/rules/project.py` reports them. What is a claim: docs/claims.md.
"""
