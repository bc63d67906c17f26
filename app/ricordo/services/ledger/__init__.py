"""The ledger: what curation cost and what it brought."""
